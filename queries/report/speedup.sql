-- purpose = "How much faster each configuration of a sweep is on one platform than on another: one row a configuration that either has."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 9: speed-up = metric(platform) / metric(baseline) of the same model; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["sweep_kept", "sweep_label", "sweep_metric", "sweep_unknown", "label_value"]
-- [parameters]
-- over = {type = "VARCHAR", doc = "label that tells platforms apart, e.g. platform"}
-- baseline = {type = "VARCHAR", doc = "its value that the others are compared with, e.g. v100"}
-- metric = {type = "VARCHAR", doc = "metric; more is faster, unless less_is_better", default = "example_per_sec"}
-- less_is_better = {type = "BOOLEAN", doc = "whether the metric is a time: the speed-up is baseline / platform then", default = false}
-- fixed = {type = "VARCHAR", doc = "values of other labels, with commas between: layer=4,input=2000; if not given, all", optional = true}
-- rule = {type = "VARCHAR", doc = "of several configurations with the same labels: one (refuse them), mean, median, min or max", default = "one", choices = ["one", "mean", "median", "min", "max"]}
-- runs = {type = "VARCHAR", doc = "names of runs, * for any letters", default = "*"}
-- run_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; if not given, all", optional = true}
-- [columns]
-- platform_value = {type = "VARCHAR", doc = "the platform"}
-- configuration = {type = "VARCHAR", doc = "the labels that all platforms have, but for the platform"}
-- speedup_factor = {type = "DOUBLE", doc = "speed over the baseline; NULL where either lacks the configuration"}
-- metric_value = {type = "DOUBLE", doc = "the metric on the platform"}
-- baseline_value = {type = "DOUBLE", doc = "the metric on the baseline"}
-- reason = {type = "VARCHAR", doc = "why speedup_factor is NULL: which of them lacks it, and why"}
-- metric_name = {type = "VARCHAR", doc = "the metric"}
-- baseline_name = {type = "VARCHAR", doc = "the baseline"}
WITH
known AS (
    FROM sweep_unknown('label', $over)
    UNION ALL FROM sweep_unknown('metric', $metric)
),
here AS (
    SELECT kept.run_id, kept.source_id, kept.event_id, kept.status_kind, kept.status_text, platform.label_value AS platform_value
    FROM sweep_kept($runs, $run_ids, $fixed) AS kept
    JOIN sweep_label($over) AS platform USING (run_id, source_id, event_id)
),
-- a value is spelled once, and 16.0 is 16
spelled AS (
    SELECT label_name, label_value, label_name || '=' || coalesce(format('{:.15g}', label_number), label_value) AS part
    FROM (
        SELECT DISTINCT column_name AS label_name, value_text AS label_value, value AS label_number
        FROM configuration_value
        WHERE role_kind = 'label'
        UNION
        SELECT label_name, label_value, label_number FROM label_value
    )
    WHERE label_name <> $over
),
own AS (
    SELECT here.run_id, here.source_id, here.event_id, here.platform_value, told.column_name AS label_name, told.value_text AS label_value
    FROM here
    JOIN configuration_value AS told USING (run_id, source_id, event_id)
    WHERE told.role_kind = 'label'
    UNION ALL
    SELECT here.run_id, here.source_id, here.event_id, here.platform_value, given.label_name, given.label_value
    FROM here
    JOIN label_value AS given USING (run_id)
),
-- labels that every platform has
shared AS (
    SELECT label_name
    FROM own
    GROUP BY label_name
    HAVING count(DISTINCT platform_value) = (SELECT count(DISTINCT platform_value) FROM here)
),
identified AS (
    SELECT run_id, source_id, event_id, array_to_string(list_sort(list(part)), ', ') AS configuration
    FROM own
    JOIN (FROM spelled WHERE label_name IN (FROM shared)) USING (label_name, label_value)
    GROUP BY run_id, source_id, event_id
),
measured AS (
    SELECT
        here.platform_value, identified.configuration,
        CASE $rule
            WHEN 'mean' THEN avg(metric_value)
            WHEN 'median' THEN median(metric_value)
            WHEN 'min' THEN min(metric_value)
            WHEN 'max' THEN max(metric_value)
            ELSE CASE WHEN count(metric_value) <= 1 THEN max(metric_value) ELSE error(count(metric_value) || ' configurations on ' || here.platform_value || ' with ' || identified.configuration || ': fix other labels (fixed: layer=4), or say how to make one of them (rule: mean, median, min or max)') END
        END AS metric_value,
        coalesce(string_agg(DISTINCT status_text, ', ' ORDER BY status_text) FILTER (WHERE status_kind = 'failed'), 'not measured') AS why
    FROM here
    JOIN identified USING (run_id, source_id, event_id)
    LEFT JOIN sweep_metric($metric) USING (run_id, source_id, event_id)
    GROUP BY here.platform_value, identified.configuration
),
based AS (FROM measured WHERE platform_value = $baseline),
platforms AS (SELECT DISTINCT platform_value FROM here WHERE platform_value <> $baseline),
every AS (
    SELECT DISTINCT platforms.platform_value, measured.configuration
    FROM platforms, measured
    WHERE measured.platform_value IN (platforms.platform_value, $baseline)
)
SELECT
    every.platform_value, every.configuration,
    CASE WHEN $less_is_better THEN ratio(based.metric_value, measured.metric_value) ELSE ratio(measured.metric_value, based.metric_value) END AS speedup_factor,
    measured.metric_value, based.metric_value AS baseline_value,
    CASE
        WHEN measured.configuration IS NULL THEN 'not tried on ' || every.platform_value
        WHEN measured.metric_value IS NULL AND based.configuration IS NOT NULL AND based.metric_value IS NULL THEN 'neither has it (' || measured.why || '; ' || based.why || ')'
        WHEN measured.metric_value IS NULL THEN 'no figure on ' || every.platform_value || ': ' || measured.why
        WHEN based.configuration IS NULL THEN 'not tried on ' || $baseline
        WHEN based.metric_value IS NULL THEN 'no figure on ' || $baseline || ': ' || based.why
    END AS reason,
    CAST($metric AS VARCHAR) AS metric_name,
    CASE WHEN EXISTS (FROM here WHERE platform_value = $baseline) THEN CAST($baseline AS VARCHAR) ELSE error('no configuration has ' || $over || '=' || $baseline || '; there are: ' || (SELECT string_agg(DISTINCT platform_value, ', ' ORDER BY platform_value) FROM here)) END AS baseline_name
FROM every
LEFT JOIN measured ON measured.platform_value = every.platform_value AND measured.configuration = every.configuration
LEFT JOIN based ON based.configuration = every.configuration
WHERE NOT EXISTS (FROM known)
ORDER BY speedup_factor DESC NULLS LAST, every.platform_value, every.configuration
