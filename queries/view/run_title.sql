-- purpose = "Run names, each once."
-- source = "table run"
-- needs = ["run"]
-- columns = "run_id title"
select run_id, any_value(run_name) as title from run group by run_id
