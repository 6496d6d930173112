-- purpose = "How a metric of a sweep is spread, for each value of a label: quantiles, and how many lie beyond them."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 11: box from the 9th to the 91st percentile, whiskers at the 2nd and the 98th; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["sweep_kept", "sweep_label", "sweep_metric", "sweep_units", "sweep_unknown"]
-- [parameters]
-- metric = {type = "VARCHAR", doc = "metric, e.g. infeed; if not given, the only one there is", optional = true, chosen_by = "sweep_choice('metric', $runs, $run_ids)"}
-- by = {type = "VARCHAR", doc = "label whose values tell groups apart, e.g. batch; if not given, the only one with several values", optional = true, chosen_by = "sweep_choice('group', $runs, $run_ids)"}
-- fixed = {type = "VARCHAR", doc = "values of other labels, with commas between: layer=4,input=2000; if not given, all", optional = true}
-- runs = {type = "VARCHAR", doc = "names of runs, * for any letters", default = "*"}
-- run_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; if not given, all", optional = true}
-- [columns]
-- group_value = {type = "VARCHAR", doc = "value of the label"}
-- median_value = {type = "DOUBLE", doc = "the median"}
-- p09_value = {type = "DOUBLE", doc = "9th percentile, where a box begins (linear between neighbors)"}
-- p91_value = {type = "DOUBLE", doc = "91st percentile, where a box ends"}
-- p02_value = {type = "DOUBLE", doc = "2nd percentile, where a whisker begins"}
-- p98_value = {type = "DOUBLE", doc = "98th percentile, where a whisker ends"}
-- known_count = {type = "BIGINT", doc = "configurations with a number"}
-- configuration_count = {type = "BIGINT", doc = "configurations of the group"}
-- failed_count = {type = "BIGINT", doc = "of those the failed ones"}
-- outlier_count = {type = "BIGINT", doc = "numbers below the 2nd or above the 98th percentile"}
-- min_value = {type = "DOUBLE", doc = "the least"}
-- max_value = {type = "DOUBLE", doc = "the largest"}
-- mean_value = {type = "DOUBLE", doc = "the mean"}
-- group_number = {type = "DOUBLE", doc = "the value of the label as a number; NULL if it is none"}
-- group_name = {type = "VARCHAR", doc = "the label"}
-- metric_name = {type = "VARCHAR", doc = "the metric"}
-- unit = {type = "VARCHAR", doc = "its unit, where the file says it"}
WITH
known AS (
    FROM sweep_unknown('label', $by)
    UNION ALL FROM sweep_unknown('metric', $metric)
    UNION ALL FROM sweep_units($metric, $runs, $run_ids)
),
measured AS (
    SELECT
        grouped.label_number AS group_number,
        CASE WHEN grouped.label_number IS NULL THEN grouped.label_value END AS group_word,
        grouped.label_value, here.status_kind, found.metric_value, found.unit
    FROM sweep_kept($runs, $run_ids, $fixed) AS here
    JOIN sweep_label($by) AS grouped USING (configuration_id)
    LEFT JOIN sweep_metric($metric) AS found USING (configuration_id)
),
boxes AS (
    SELECT
        group_number, group_word, any_value(label_value) AS group_value,
        quantile_cont(metric_value, [0.02, 0.09, 0.5, 0.91, 0.98]) AS marks,
        count(metric_value) AS known_count, count(*) AS configuration_count,
        count(*) FILTER (WHERE status_kind = 'failed') AS failed_count,
        min(metric_value) AS min_value, max(metric_value) AS max_value, avg(metric_value) AS mean_value,
        any_value(unit) AS unit
    FROM measured
    GROUP BY group_number, group_word
)
SELECT
    any_value(boxes.group_value) AS group_value, any_value(marks[3]) AS median_value,
    any_value(marks[2]) AS p09_value, any_value(marks[4]) AS p91_value,
    any_value(marks[1]) AS p02_value, any_value(marks[5]) AS p98_value,
    any_value(known_count) AS known_count, any_value(configuration_count) AS configuration_count,
    any_value(failed_count) AS failed_count,
    count(*) FILTER (WHERE metric_value < marks[1] OR metric_value > marks[5]) AS outlier_count,
    any_value(min_value) AS min_value, any_value(max_value) AS max_value, any_value(mean_value) AS mean_value,
    boxes.group_number, CAST($by AS VARCHAR) AS group_name, CAST($metric AS VARCHAR) AS metric_name, any_value(boxes.unit) AS unit
FROM boxes
JOIN measured
    ON measured.group_number IS NOT DISTINCT FROM boxes.group_number
    AND measured.group_word IS NOT DISTINCT FROM boxes.group_word
GROUP BY boxes.group_number, boxes.group_word
HAVING NOT EXISTS (FROM known)
ORDER BY boxes.group_number NULLS LAST, group_value
