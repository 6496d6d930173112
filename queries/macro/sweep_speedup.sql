-- purpose = "How much faster each configuration of a sweep is on one platform than on another: one row a configuration that either has."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 8 and 9; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["configuration_label", "label_value", "sweep_kept", "sweep_label", "sweep_metric", "sweep_table"]
-- [parameters]
-- platform_label = {type = "VARCHAR", doc = "label that tells platforms apart"}
-- wanted_baseline = {type = "VARCHAR", doc = "its value that the others are compared with; NULL for the least number"}
-- compared_metric = {type = "VARCHAR", doc = "which metric"}
-- is_of_times = {type = "BOOLEAN", doc = "whether less of it is faster"}
-- wanted_rule = {type = "VARCHAR", doc = "of several configurations with the same labels: one (refuse them), mean, median, min or max"}
-- kept_runs = {type = "VARCHAR", doc = "names of runs, * for any letters"}
-- kept_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; NULL for all"}
-- kept_values = {type = "VARCHAR", doc = "values of labels, with commas between; NULL for all"}
-- [columns]
-- platform_value = {type = "VARCHAR", doc = "the platform"}
-- baseline_name = {type = "VARCHAR", doc = "the baseline"}
-- configuration = {type = "VARCHAR", doc = "the labels that all platforms have, but for the platform, as that has them"}
-- speedup_factor = {type = "DOUBLE", doc = "speed over the baseline; NULL where either lacks the configuration"}
-- metric_value = {type = "DOUBLE", doc = "the metric on the platform"}
-- baseline_value = {type = "DOUBLE", doc = "the metric on the baseline"}
-- reason = {type = "VARCHAR", doc = "why speedup_factor is NULL"}
-- configuration_id = {type = "BIGINT", doc = "one of the configurations, of the platform if it has one: it stands for all"}
WITH
here AS (
    SELECT kept.configuration_id, kept.status_kind, kept.status_text,
        -- as '{:.15g}' writes whole numbers, in a tenth of its time
        coalesce(CASE WHEN abs(label_number) < 1e15 AND trunc(label_number) = label_number THEN CAST(CAST(label_number AS BIGINT) AS VARCHAR) END, format('{:.15g}', label_number), label_value) AS platform_value,
        label_number
    FROM sweep_kept(kept_runs, kept_ids, kept_values) AS kept
    JOIN sweep_label(platform_label) AS platform USING (configuration_id)
),
-- which labels each platform has: at once where all rows of a table have the label, by row where some lack it
labels AS (
    SELECT base_id >> 40 AS table_number, label_name, bool_or(label_count < configuration_count) AS is_partial
    FROM (
        SELECT run_id, source_id, column_name AS label_name, count(*) AS label_count
        FROM configuration_value
        WHERE role_kind = 'label'
        GROUP BY run_id, source_id, column_name
        UNION ALL
        SELECT run_id, source_id, label_name, configuration_count
        FROM label_value
        JOIN sweep_table USING (run_id)
    )
    JOIN sweep_table USING (run_id, source_id)
    WHERE label_name <> platform_label
    GROUP BY base_id >> 40, label_name
),
platforms AS (SELECT platform_value, min(label_number) AS platform_number FROM here GROUP BY platform_value),
baseline AS (SELECT coalesce(wanted_baseline, format('{:.15g}', min(platform_number)), error('no value of ' || platform_label || ' is a number: ' || string_agg(platform_value, ', ' ORDER BY platform_value) || '; name a label with numbers of chips')) AS baseline_name FROM platforms),
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
    HAVING count(*) = (SELECT count(*) FROM platforms)
),
-- Configurations are the same where the hashes of their labels, put together, are: 64 bits tell a million apart. A hash of a hash, as
-- DuckDB's hash of a pair is linear: labels that swap their values would come out alike.
identified AS (
    SELECT
        configuration_id, bit_xor(hash(hash(label_name, label_number, CASE WHEN label_number IS NULL THEN label_value END))) AS identity,
        bit_xor(hash(hash(label_name, label_value))) AS spelling
    FROM configuration_label
    WHERE label_name IN (FROM shared)
    GROUP BY configuration_id
),
measured AS (
    SELECT
        here.platform_value, coalesce(identity, 0) AS identity, min(configuration_id) AS configuration_id,
        arg_min(spelling, configuration_id) AS spelling, count(metric_value) AS metric_count,
        CASE wanted_rule
            WHEN 'mean' THEN avg(metric_value)
            WHEN 'median' THEN median(metric_value)
            WHEN 'min' THEN min(metric_value)
            ELSE max(metric_value)
        END AS metric_value,
        coalesce(min(CASE WHEN status_kind = 'failed' THEN coalesce(status_text, 'failed') END), 'not measured') AS why
    FROM here
    LEFT JOIN identified USING (configuration_id)
    LEFT JOIN sweep_metric(compared_metric) USING (configuration_id)
    GROUP BY here.platform_value, coalesce(identity, 0)
),
based AS (FROM measured JOIN baseline ON baseline_name = platform_value),
others AS (
    SELECT platform_value, baseline_name
    FROM platforms, baseline
    WHERE CASE
        WHEN baseline_name IN (SELECT platform_value FROM platforms) THEN platform_value <> baseline_name
        ELSE error('no configuration has ' || platform_label || '=' || baseline_name || '; there are: ' || (SELECT string_agg(platform_value, ', ' ORDER BY platform_value) FROM platforms))
    END
),
-- every platform beside the baseline: configurations that both have, that it has alone, that the baseline has alone
pairs AS (
    SELECT others.platform_value, others.baseline_name, measured.identity, measured.configuration_id, measured.spelling, measured.metric_value, measured.metric_count, measured.why, true AS is_tried
    FROM others
    JOIN measured USING (platform_value)
    UNION ALL
    SELECT others.platform_value, others.baseline_name, based.identity, based.configuration_id, based.spelling, NULL, 0, NULL, false
    FROM others, based
    WHERE NOT EXISTS (FROM measured WHERE measured.platform_value = others.platform_value AND measured.identity = based.identity)
),
compared AS (
    SELECT
        pairs.platform_value, pairs.baseline_name, CASE WHEN based.spelling = pairs.spelling THEN based.configuration_id ELSE pairs.configuration_id END AS named_id,
        CASE WHEN is_of_times THEN ratio(based.metric_value, pairs.metric_value) ELSE ratio(pairs.metric_value, based.metric_value) END AS speedup_factor,
        pairs.metric_value, based.metric_value AS baseline_value,
        CASE
            WHEN NOT is_tried THEN 'not tried on ' || pairs.platform_value
            WHEN pairs.metric_value IS NULL AND based.identity IS NOT NULL AND based.metric_value IS NULL THEN 'neither has it (' || pairs.why || '; ' || based.why || ')'
            WHEN pairs.metric_value IS NULL THEN 'no figure on ' || pairs.platform_value || ': ' || pairs.why
            WHEN based.identity IS NULL THEN 'not tried on ' || pairs.baseline_name
            WHEN based.metric_value IS NULL THEN 'no figure on ' || pairs.baseline_name || ': ' || based.why
            WHEN CASE WHEN is_of_times THEN pairs.metric_value ELSE based.metric_value END = 0 THEN 'the figure to divide by is 0'
        END AS reason,
        CASE
            WHEN wanted_rule IN ('mean', 'median', 'min', 'max') THEN NULL
            WHEN pairs.metric_count > 1 THEN pairs.metric_count || ' configurations on ' || pairs.platform_value
            WHEN based.metric_count > 1 THEN based.metric_count || ' configurations on ' || pairs.baseline_name
        END AS doubled_text,
        pairs.configuration_id
    FROM pairs
    LEFT JOIN based USING (identity)
),
-- one text for all platforms that spell it alike, and only of what comes out: to put texts together takes longer than all else
named AS (
    SELECT
        configuration_id AS named_id,
        array_to_string(list_sort(string_split(string_agg(label_name || '=' || label_value, chr(31)), chr(31))), ', ') AS configuration
    FROM configuration_label
    WHERE label_name IN (FROM shared) AND configuration_id IN (SELECT named_id FROM compared)
    GROUP BY configuration_id
)
SELECT
    platform_value, baseline_name, coalesce(configuration, '') AS configuration,
    CASE WHEN doubled_text IS NULL THEN speedup_factor ELSE error(doubled_text || coalesce(' with ' || configuration, '') || ': keep those with certain labels (fixed, of a chart --where: layer=4), or name a rule that makes one of them (rule: mean, median, min or max)') END AS speedup_factor,
    metric_value, baseline_value, reason, configuration_id
FROM compared
LEFT JOIN named USING (named_id)
