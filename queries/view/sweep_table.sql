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
in_tables AS (SELECT run_id, source_id, count(*) AS configuration_count FROM configuration GROUP BY run_id, source_id),
either AS (
    FROM in_tables
    UNION ALL
    SELECT run_id, 'run', 1
    FROM (SELECT run_id FROM run_label UNION SELECT run_id FROM run_metric)
    WHERE run_id NOT IN (SELECT run_id FROM in_tables)
)
SELECT
    either.run_id, either.source_id, run_title.title, either.configuration_count,
    row_number() OVER (ORDER BY either.run_id, either.source_id) << 40 AS base_id
FROM either
JOIN run_title USING (run_id)
