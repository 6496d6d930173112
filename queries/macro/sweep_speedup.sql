-- purpose = "How much faster each configuration of a sweep is on one platform than on another: one row a configuration that either has."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 8 and 9; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["configuration_label", "sweep_kept", "sweep_label", "sweep_metric", "sweep_table"]
-- [parameters]
-- platform_label = {type = "VARCHAR", doc = "label that tells platforms apart"}
-- wanted_baseline = {type = "VARCHAR", doc = "its value that the others are compared with"}
-- compared_metric = {type = "VARCHAR", doc = "which metric"}
-- is_of_times = {type = "BOOLEAN", doc = "whether less of it is faster"}
-- wanted_rule = {type = "VARCHAR", doc = "of several configurations with the same labels: one (refuse them), mean, median, min or max"}
-- kept_runs = {type = "VARCHAR", doc = "names of runs, * for any letters"}
-- kept_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; NULL for all"}
-- kept_values = {type = "VARCHAR", doc = "values of labels, with commas between; NULL for all"}
-- [columns]
-- platform_value = {type = "VARCHAR", doc = "the platform"}
-- parts = {type = "VARCHAR", doc = "the labels that all platforms have, but for the platform, in no order, with the character 31 between"}
-- speedup_factor = {type = "DOUBLE", doc = "speed over the baseline; NULL where either lacks the configuration"}
-- metric_value = {type = "DOUBLE", doc = "the metric on the platform"}
-- baseline_value = {type = "DOUBLE", doc = "the metric on the baseline"}
-- reason = {type = "VARCHAR", doc = "why speedup_factor is NULL"}
-- configuration_id = {type = "BIGINT", doc = "one of the configurations, of the platform if it has one: it stands for all"}
WITH
here AS (
    SELECT kept.configuration_id, kept.status_kind, kept.status_text,
        coalesce(format('{:.15g}', platform.label_number), platform.label_value) AS platform_value
    FROM sweep_kept(kept_runs, kept_ids, kept_values) AS kept
    JOIN sweep_label(platform_label) AS platform USING (configuration_id)
),
-- which labels each platform has: at once where all rows of a table have the label, by row where some lack it
labels AS (
    SELECT configuration_id >> 40 AS table_number, label_name, count(*) < any_value(configuration_count) AS is_partial
    FROM configuration_label
    JOIN sweep_table ON sweep_table.base_id >> 40 = configuration_id >> 40
    WHERE label_name <> platform_label
    GROUP BY configuration_id >> 40, label_name
),
had AS (
    SELECT platform_value, label_name
    FROM (SELECT DISTINCT configuration_id >> 40 AS table_number, platform_value FROM here)
    JOIN labels USING (table_number)
    WHERE NOT is_partial
    UNION
    SELECT here.platform_value, told.label_name
    FROM configuration_label AS told
    JOIN labels ON labels.table_number = told.configuration_id >> 40 AND labels.label_name = told.label_name
    JOIN here USING (configuration_id)
    WHERE is_partial
),
shared AS (
    SELECT label_name
    FROM had
    GROUP BY label_name
    HAVING count(*) = (SELECT count(DISTINCT platform_value) FROM here)
),
-- Configurations are the same where the sums of the hashes of their labels are: 64 bits tell a million apart. A hash of a hash, as
-- DuckDB's hash of a pair is linear: labels that swap their values would sum up alike.
identified AS (
    SELECT
        configuration_id,
        sum(CAST(hash(hash(label_name, label_number, CASE WHEN label_number IS NULL THEN label_value END)) AS HUGEINT)) AS identity,
        string_agg(label_name || '=' || label_value, chr(31)) AS parts
    FROM configuration_label
    WHERE label_name IN (FROM shared)
    GROUP BY configuration_id
),
measured AS (
    SELECT
        here.platform_value, coalesce(identity, 0) AS identity, arg_min(parts, configuration_id) AS parts,
        min(configuration_id) AS configuration_id,
        CASE wanted_rule
            WHEN 'mean' THEN avg(metric_value)
            WHEN 'median' THEN median(metric_value)
            WHEN 'min' THEN min(metric_value)
            WHEN 'max' THEN max(metric_value)
            ELSE CASE WHEN count(metric_value) <= 1 THEN max(metric_value) ELSE error(count(metric_value) || ' configurations on ' || here.platform_value || ' with ' || array_to_string(list_sort(string_split(any_value(parts), chr(31))), ', ') || ': keep those with certain labels (fixed, of a chart --where: layer=4), or name a rule that makes one of them (rule: mean, median, min or max)') END
        END AS metric_value,
        coalesce(min(CASE WHEN status_kind = 'failed' THEN coalesce(status_text, 'failed') END), 'not measured') AS why
    FROM here
    LEFT JOIN identified USING (configuration_id)
    LEFT JOIN sweep_metric(compared_metric) USING (configuration_id)
    GROUP BY here.platform_value, coalesce(identity, 0)
),
based AS (FROM measured WHERE platform_value = wanted_baseline),
others AS (
    SELECT DISTINCT platform_value
    FROM here
    WHERE CASE
        WHEN wanted_baseline IN (SELECT platform_value FROM here) THEN platform_value <> wanted_baseline
        ELSE error('no configuration has ' || platform_label || '=' || wanted_baseline || '; there are: ' || (SELECT string_agg(DISTINCT platform_value, ', ' ORDER BY platform_value) FROM here))
    END
),
-- every platform beside the baseline: configurations that both have, that it has alone, that the baseline has alone
pairs AS (
    SELECT others.platform_value, measured.identity, measured.parts, measured.configuration_id, measured.metric_value, measured.why, true AS is_tried
    FROM others
    JOIN measured USING (platform_value)
    UNION ALL
    SELECT others.platform_value, based.identity, based.parts, based.configuration_id, NULL, NULL, false
    FROM others, based
    WHERE NOT EXISTS (FROM measured WHERE measured.platform_value = others.platform_value AND measured.identity = based.identity)
)
SELECT
    pairs.platform_value, coalesce(pairs.parts, '') AS parts,
    CASE WHEN is_of_times THEN ratio(based.metric_value, pairs.metric_value) ELSE ratio(pairs.metric_value, based.metric_value) END AS speedup_factor,
    pairs.metric_value, based.metric_value AS baseline_value,
    CASE
        WHEN NOT is_tried THEN 'not tried on ' || pairs.platform_value
        WHEN pairs.metric_value IS NULL AND based.identity IS NOT NULL AND based.metric_value IS NULL THEN 'neither has it (' || pairs.why || '; ' || based.why || ')'
        WHEN pairs.metric_value IS NULL THEN 'no figure on ' || pairs.platform_value || ': ' || pairs.why
        WHEN based.identity IS NULL THEN 'not tried on ' || wanted_baseline
        WHEN based.metric_value IS NULL THEN 'no figure on ' || wanted_baseline || ': ' || based.why
        WHEN CASE WHEN is_of_times THEN pairs.metric_value ELSE based.metric_value END = 0 THEN 'the figure to divide by is 0'
    END AS reason,
    pairs.configuration_id
FROM pairs
LEFT JOIN based USING (identity)
