-- purpose = "Runs with their names, and with the values of a label for rows grouped by it: input
-- of `group_of`."
-- source = "docs/queries.md: the parameter `by`"
-- needs = ["run"]
-- depends = ["run_title", "label_value"]
-- parameters = "wanted_run grouping_kind wanted_label"
-- grouping_kind = "label, or any other"
-- columns = "run_id title label_value label_number"
-- label_value = "label value; NULL if it has none or none is requested"
select named.run_id, named.title, valued.label_value, valued.label_number
from run_title as named
left join
    label_value as valued
    on grouping_kind = 'label'
    and valued.run_id = named.run_id
    and valued.label_name = wanted_label
    and (wanted_run is null or valued.run_id = wanted_run)
where wanted_run is null or named.run_id = wanted_run
