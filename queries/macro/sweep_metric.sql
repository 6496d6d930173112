-- purpose = "One metric of every configuration that has a number for it and did not fail: what a failed one has, such as 0, was not measured."
-- source = "tables configuration_value and run_metric; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["sweep_table"]
-- [parameters]
-- wanted_metric = {type = "VARCHAR", doc = "which metric"}
-- [columns]
-- configuration_id = {type = "BIGINT", doc = "the configuration, as in sweep_configuration"}
-- metric_value = {type = "DOUBLE", doc = "the metric"}
-- unit = {type = "VARCHAR", doc = "its unit, where the file says it"}
SELECT base_id + event_id AS configuration_id, value AS metric_value, unit
FROM configuration_value
JOIN sweep_table USING (run_id, source_id)
WHERE role_kind = 'metric' AND column_name = wanted_metric AND value IS NOT NULL
    AND (run_id, source_id, event_id) NOT IN (SELECT (run_id, source_id, event_id) FROM configuration WHERE status_kind = 'failed')
UNION ALL
SELECT base_id, any_value(run_metric.value), NULL
FROM sweep_table
JOIN run_metric USING (run_id)
WHERE sweep_table.source_id = 'run' AND run_metric.metric_name = wanted_metric
GROUP BY base_id
