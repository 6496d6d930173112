-- purpose = "How many samples a step of each run works on: the metric samples_per_step, else the label batch."
-- source = "docs/metrics.md, section Steps and the stable phase"
-- depends = ["label_value"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- sample_count = {type = "DOUBLE", doc = "samples"}
SELECT run_id, coalesce(max(CASE WHEN is_metric THEN value END), max(value)) AS sample_count
FROM (
    SELECT run_id, true AS is_metric, value FROM run_metric WHERE metric_name = 'samples_per_step'
    UNION ALL
    SELECT run_id, false, label_number FROM label_value WHERE label_name = 'batch'
)
GROUP BY run_id
