-- purpose = "One metric of every configuration that has a number for it."
-- source = "tables configuration_value and run_metric; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["sweep_configuration"]
-- [parameters]
-- wanted_metric = {type = "VARCHAR", doc = "which metric"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "as in sweep_configuration"}
-- event_id = {type = "BIGINT", doc = "as in sweep_configuration"}
-- metric_value = {type = "DOUBLE", doc = "the metric"}
-- unit = {type = "VARCHAR", doc = "its unit, where the file says it"}
SELECT run_id, source_id, event_id, value AS metric_value, unit
FROM configuration_value
WHERE role_kind = 'metric' AND column_name = wanted_metric AND value IS NOT NULL
UNION ALL
SELECT here.run_id, here.source_id, here.event_id, any_value(run_metric.value), NULL
FROM sweep_configuration AS here
JOIN run_metric ON run_metric.run_id = here.run_id AND run_metric.metric_name = wanted_metric
WHERE here.source_id = 'run'
GROUP BY here.run_id, here.source_id, here.event_id
