-- purpose = "Every source of a sweep: tables of results, and runs that are one configuration each."
-- source = "tables configuration, run_label and run_metric; docs/metrics.md, section Sweeps"
-- depends = ["run_title"]
-- needs = ["run"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source of the table; the word run for a run that is a configuration itself"}
-- title = {type = "VARCHAR", doc = "name of the run"}
-- configuration_count = {type = "BIGINT", doc = "configurations in it"}
-- base_id = {type = "BIGINT", doc = "configuration_id of its row 0: all rows of all tables have one of their own"}
WITH
-- numbered by what is stored, not by what is in it: a question about one run then reads no file of another
numbers AS (
    SELECT run_id, source_id, row_number() OVER (ORDER BY run_id, source_id) << 40 AS base_id
    FROM (
        SELECT run_id, source_id FROM stored_table WHERE table_name = 'configuration'
        UNION
        SELECT run_id, 'run' FROM stored_table
    )
),
either AS (
    SELECT run_id, source_id, count(*) AS configuration_count FROM configuration GROUP BY run_id, source_id
    UNION ALL
    SELECT run_id, 'run', 1
    FROM (SELECT run_id FROM run_label UNION SELECT run_id FROM run_metric)
    WHERE run_id NOT IN (SELECT run_id FROM stored_table WHERE table_name = 'configuration')
)
SELECT either.run_id, either.source_id, run_title.title, either.configuration_count, numbers.base_id
FROM either
JOIN numbers USING (run_id, source_id)
JOIN run_title USING (run_id)
