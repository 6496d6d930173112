-- purpose = "The runs with their names and, where rows are grouped by a label, its values: what
-- `group_of` is told of a run."
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
-- label_value = {type = "VARCHAR", doc = "value of the label; NULL if it has none or none is
-- asked for"}
-- label_number = {type = "DOUBLE", doc = "that value as a number; NULL if it is not a number"}
select named.run_id, named.title, valued.label_value, valued.label_number
from run_title as named
left join
    label_value as valued
    on grouping_kind = 'label'
    and valued.run_id = named.run_id
    and valued.label_name = wanted_label
    and (wanted_run is null or valued.run_id = wanted_run)
where wanted_run is null or named.run_id = wanted_run
