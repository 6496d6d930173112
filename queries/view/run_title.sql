-- purpose = "The name of each run, once."
-- source = "table run"
-- needs = ["run"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- title = {type = "VARCHAR", doc = "its name"}
SELECT run_id, any_value(run_name) AS title FROM run GROUP BY run_id
