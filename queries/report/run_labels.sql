-- purpose = "Labels of every run, for sweeps, trajectories and groups."
-- source = "table run_label, as given with --label at ingest"
-- needs = ["run"]
-- depends = ["run_title", "label_value"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all runs", optional = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- run_name = {type = "VARCHAR", doc = "its name"}
-- label_name = {type = "VARCHAR", doc = "label, e.g. batch; NULL without labels"}
-- label_value = {type = "VARCHAR", doc = "as it was given"}
-- label_number = {type = "DOUBLE", doc = "value as a number, if it is one"}
select
    run_id,
    run_title.title as run_name,
    label_value.label_name,
    label_value.label_value,
    label_value.label_number
from run_title
left join label_value using (run_id)
where $run_id is null or run_id = $run_id
order by run_name, run_id, label_name
