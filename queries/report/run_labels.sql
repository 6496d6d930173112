-- purpose = "The labels of every run: what sweeps, trajectories and groups are made of."
-- source = "table run_label, as given with --label at ingest"
-- needs = ["run"]
-- depends = ["run_title", "label_value"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- run_name = {type = "VARCHAR", doc = "its name"}
-- label_name = {type = "VARCHAR", doc = "e.g. batch; NULL where the run has no label"}
-- label_value = {type = "VARCHAR", doc = "as it was given"}
-- label_number = {type = "DOUBLE", doc = "the value where it is a number"}
SELECT run_id, run_title.title AS run_name, label_value.label_name, label_value.label_value, label_value.label_number
FROM run_title LEFT JOIN label_value USING (run_id)
WHERE $run_id IS NULL OR run_id = $run_id
ORDER BY run_name, run_id, label_name
