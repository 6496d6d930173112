-- purpose = "How a metric of a sweep or of runs grows with a label: throughput, speed-up over a baseline, scaling efficiency."
-- source = "Javed 2019, sect. 4.1 (Fig. 4, 7, 8, 12): efficiency = metric(n) / (n / n0 x metric(n0))"
-- needs = ["run"]
-- depends = ["configuration_label", "sweep_configuration", "sweep_kept", "sweep_label", "sweep_metric", "sweep_units", "sweep_unknown"]
-- [parameters]
-- over = {type = "VARCHAR", doc = "label that is scaled, e.g. nodes; if not given, the only one of numbers in which runs differ, else in which configurations do", optional = true, chosen_by = "sweep_choice('chips', $runs, $run_ids)"}
-- metric = {type = "VARCHAR", doc = "metric, e.g. images_per_s; if not given, the only one there is", optional = true, chosen_by = "sweep_choice('metric', $runs, $run_ids)"}
-- series = {type = "VARCHAR", doc = "labels that tell series apart, with commas between; if not given, all others in which configurations differ", optional = true}
-- baseline = {type = "VARCHAR", doc = "run that every speed-up is over; if not given, the least of each series", optional = true}
-- runs = {type = "VARCHAR", doc = "names of runs, * for any letters", default = "*"}
-- run_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; if not given, all", optional = true}
-- [columns]
-- series = {type = "VARCHAR", doc = "values of the labels that tell series apart"}
-- over_value = {type = "VARCHAR", doc = "value of the label that is scaled"}
-- metric_value = {type = "DOUBLE", doc = "the metric; of several configurations with these labels the mean"}
-- speedup_factor = {type = "DOUBLE", doc = "metric / that of the baseline"}
-- efficiency_ratio = {type = "DOUBLE", doc = "growth of the metric / growth of the label, both from the least of the series"}
-- reason = {type = "VARCHAR", doc = "why a figure is NULL, or of fewer runs"}
-- run_name = {type = "VARCHAR", doc = "run; NULL where there are several configurations"}
-- run_count = {type = "BIGINT", doc = "configurations (runs, or rows of tables) with these labels"}
-- least_metric_value = {type = "DOUBLE", doc = "the least of them"}
-- most_metric_value = {type = "DOUBLE", doc = "the most of them"}
-- baseline_name = {type = "VARCHAR", doc = "run, or value of the label, that the speed-up is over"}
-- over_number = {type = "DOUBLE", doc = "the value of the label as a number; NULL if it is none"}
-- metric_name = {type = "VARCHAR", doc = "the metric"}
WITH
known AS (
    FROM sweep_unknown('label', $over)
    UNION ALL FROM sweep_unknown('metric', $metric)
    UNION ALL FROM sweep_units($metric, $runs, $run_ids)
),
chosen AS (
    SELECT kept.configuration_id, kept.title, over.label_value AS over_value, over.label_number AS over_number
    FROM sweep_kept($runs, $run_ids, NULL) AS kept
    JOIN sweep_label($over) AS over USING (configuration_id)
),
-- labels in which the configurations differ
telling AS (
    SELECT label_name
    FROM chosen
    JOIN configuration_label USING (configuration_id)
    WHERE label_name <> $over
    GROUP BY label_name
    HAVING count(DISTINCT label_value) > 1 OR count(*) < (SELECT count(*) FROM chosen)
),
told AS (
    SELECT configuration_id, array_to_string(list_sort(list(label_name || '=' || label_value)), ', ') AS series
    FROM configuration_label
    WHERE
        label_name <> $over
        AND CASE
            WHEN $series IS NULL THEN label_name IN (FROM telling)
            ELSE list_contains(list_transform(string_split($series, ','), lambda part: trim(part)), label_name)
        END
    GROUP BY configuration_id
),
valued AS (
    SELECT told.series, over_value, over_number, given.metric_value AS value, chosen.title
    FROM chosen
    LEFT JOIN sweep_metric($metric) AS given USING (configuration_id)
    LEFT JOIN told USING (configuration_id)
),
points AS (
    SELECT
        series, any_value(over_value) AS over_value, over_number,
        avg(value) AS value, min(value) AS least, max(value) AS most, count(*) AS run_count,
        CASE WHEN count(*) = 1 THEN any_value(title) END AS run_name,
        count(value) AS value_count
    FROM valued
    GROUP BY series, over_number, CASE WHEN over_number IS NULL THEN over_value END
),
based AS (
    SELECT
        *,
        arg_min(value, over_number) FILTER (WHERE value IS NOT NULL) OVER own AS first_value,
        min(over_number) FILTER (WHERE value IS NOT NULL) OVER own AS first_number,
        arg_min(over_value, over_number) FILTER (WHERE value IS NOT NULL) OVER own AS first_name
    FROM points
    WINDOW own AS (PARTITION BY series)
),
baseline AS (
    SELECT
        CASE WHEN $baseline IS NULL OR count(given.metric_value) = 1 THEN any_value(given.metric_value) ELSE error('baseline: ' || count(given.metric_value) || ' configurations of runs called ' || $baseline || ' have the metric ' || $metric || '; it is to be one') END AS value
    FROM sweep_configuration AS own
    LEFT JOIN sweep_metric($metric) AS given USING (configuration_id)
    WHERE $baseline IS NOT NULL AND own.title = $baseline
)
SELECT
    series, over_value, based.value AS metric_value,
    ratio(based.value, CASE WHEN $baseline IS NULL THEN first_value ELSE baseline.value END) AS speedup_factor,
    ratio(based.value * first_number, first_value * over_number) AS efficiency_ratio,
    CASE
        WHEN value_count = 0 THEN 'no figure of the metric ' || $metric
        WHEN value_count < run_count THEN run_count - value_count || ' of ' || run_count || ' have no figure of the metric ' || $metric
        WHEN over_number IS NULL THEN 'the label is no number'
        WHEN first_number <= 0 THEN 'the label is not above zero'
    END AS reason,
    run_name, run_count, least AS least_metric_value, most AS most_metric_value,
    coalesce($baseline, first_name) AS baseline_name,
    over_number,
    CAST($metric AS VARCHAR) AS metric_name
FROM based, baseline
WHERE NOT EXISTS (FROM known)
ORDER BY series, over_number NULLS LAST, over_value
