-- purpose = "Every configuration of a sweep: rows of tables of results, and runs that are one configuration each."
-- source = "tables configuration, run_label and run_metric; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["run_title"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source of the table; the word run for a run that is a configuration itself"}
-- event_id = {type = "BIGINT", doc = "row of the table; 0 for such a run"}
-- title = {type = "VARCHAR", doc = "name of the run"}
-- status_kind = {type = "VARCHAR", doc = "ok or failed"}
-- status_text = {type = "VARCHAR", doc = "what the table says of it"}
WITH in_tables AS (SELECT DISTINCT run_id FROM configuration)
SELECT configuration.run_id, configuration.source_id, configuration.event_id, run_title.title, status_kind, status_text
FROM configuration
JOIN run_title USING (run_id)
UNION ALL
SELECT run_id, 'run', 0, title, 'ok', NULL
FROM run_title
WHERE
    run_id NOT IN (FROM in_tables)
    AND run_id IN (SELECT run_id FROM run_label UNION ALL SELECT run_id FROM run_metric)
