-- purpose = "The runs with their names and, where rows are grouped by a label, its values: what `group_of` is told of a run."
-- source = "docs/queries.md: the parameter `by`"
-- needs = ["run"]
-- depends = ["run_title", "label_value"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them. No other run's files are read"}
-- grouping_kind = {type = "VARCHAR", doc = "label, or anything else"}
-- wanted_label = {type = "VARCHAR", doc = "which label"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- title = {type = "VARCHAR", doc = "its name"}
-- label_value = {type = "VARCHAR", doc = "value of the label; NULL if it has none or none is asked for"}
-- label_number = {type = "DOUBLE", doc = "that as a number; NULL if it is none"}
SELECT named.run_id, named.title, valued.label_value, valued.label_number
FROM run_title AS named
LEFT JOIN label_value AS valued
    ON grouping_kind = 'label' AND valued.run_id = named.run_id AND valued.label_name = wanted_label
    AND (wanted_run IS NULL OR valued.run_id = wanted_run)
WHERE wanted_run IS NULL OR named.run_id = wanted_run
