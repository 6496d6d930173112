-- purpose = "The sources with counters of launches."
-- source = "table source_file"
-- needs = ["source_file"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- is_shared = {type = "BOOLEAN", doc = "several of them in the run, which may be of the same launches"}
SELECT run_id, source_id, count(*) OVER (PARTITION BY run_id) > 1 AS is_shared
FROM stored_table JOIN source_file USING (run_id, source_id)
WHERE table_name = 'kernel_counter'
