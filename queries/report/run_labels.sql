-- purpose = "Labels of every run, for sweeps, trajectories and groups."
-- source = "table run_label, as given with --label at ingest"
-- topic = "store"
-- needs = ["run"]
-- depends = ["run_title", "label_value"]
-- parameters = "run_id-all"
-- columns = "run_id run_name label_name label_value label_number"
-- label_name = "label, e.g. batch; NULL without labels"
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
