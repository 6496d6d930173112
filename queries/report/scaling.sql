-- purpose = "How a metric of runs grows with a label: throughput, speed-up over a baseline, scaling efficiency."
-- source = "Javed 2019, sect. 4.1 (Fig. 4, 7, 8, 12): efficiency = metric(n) / (n / n0 x metric(n0))"
-- needs = ["run_metric"]
-- depends = ["run_title", "label_value"]
-- [parameters]
-- over = {type = "VARCHAR", doc = "label that is scaled, e.g. nodes"}
-- metric = {type = "VARCHAR", doc = "metric, as given with --metric at ingest, e.g. images_per_s"}
-- series = {type = "VARCHAR", doc = "labels that tell series apart, with commas between; if not given, all others in which the runs differ", optional = true}
-- baseline = {type = "VARCHAR", doc = "run that every speed-up is over; if not given, the least of each series", optional = true}
-- runs = {type = "VARCHAR", doc = "names of runs, * for any letters", default = "*"}
-- run_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; if not given, all", optional = true}
-- [columns]
-- series = {type = "VARCHAR", doc = "values of the labels that tell series apart"}
-- over_value = {type = "VARCHAR", doc = "value of the label that is scaled"}
-- metric_value = {type = "DOUBLE", doc = "the metric; of several runs with these labels the mean"}
-- speedup_factor = {type = "DOUBLE", doc = "metric / that of the baseline"}
-- efficiency_ratio = {type = "DOUBLE", doc = "growth of the metric / growth of the label, both from the least of the series"}
-- reason = {type = "VARCHAR", doc = "why a figure is NULL, or of fewer runs"}
-- run_name = {type = "VARCHAR", doc = "run; NULL where there are several"}
-- run_count = {type = "BIGINT", doc = "runs with these labels"}
-- least_metric_value = {type = "DOUBLE", doc = "the least of them"}
-- most_metric_value = {type = "DOUBLE", doc = "the most of them"}
-- baseline_name = {type = "VARCHAR", doc = "run, or value of the label, that the speed-up is over"}
-- over_number = {type = "DOUBLE", doc = "the value of the label as a number; NULL if it is none"}
-- metric_name = {type = "VARCHAR", doc = "the metric"}
WITH
chosen AS (
    SELECT run_title.run_id, run_title.title
    FROM run_title
    WHERE run_title.title GLOB $runs AND ($run_ids IS NULL OR list_contains(string_split($run_ids, ','), run_title.run_id))
),
given AS (
    SELECT run_id, metric_name, any_value(value) AS value FROM run_metric GROUP BY run_id, metric_name
),
-- labels in which the runs differ
telling AS (
    SELECT label_name
    FROM chosen JOIN label_value USING (run_id)
    WHERE label_name <> $over
    GROUP BY label_name
    HAVING count(DISTINCT label_value) > 1 OR count(*) < (SELECT count(*) FROM chosen)
),
told AS (
    SELECT
        run_id,
        string_agg(label_name || '=' || label_value, ', ' ORDER BY label_name) AS series
    FROM label_value
    WHERE
        label_name <> $over
        AND CASE
            WHEN $series IS NULL THEN label_name IN (FROM telling)
            ELSE list_contains(list_transform(string_split($series, ','), lambda part: trim(part)), label_name)
        END
    GROUP BY run_id
),
valued AS (
    SELECT
        told.series, label_value.label_value AS over_value, label_value.label_number AS over_number,
        given.value, chosen.title
    FROM chosen
    JOIN label_value ON label_value.run_id = chosen.run_id AND label_value.label_name = $over
    LEFT JOIN given ON given.run_id = chosen.run_id AND given.metric_name = $metric
    LEFT JOIN told ON told.run_id = chosen.run_id
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
        CASE WHEN $baseline IS NULL OR count(given.value) = 1 THEN any_value(given.value) ELSE error('baseline: ' || count(given.value) || ' runs called ' || $baseline || ' have the metric ' || $metric || '; it is to be one') END AS value
    FROM run_title
    LEFT JOIN given ON given.run_id = run_title.run_id AND given.metric_name = $metric
    WHERE run_title.title = $baseline
)
SELECT
    series, over_value, based.value AS metric_value,
    ratio(based.value, CASE WHEN $baseline IS NULL THEN first_value ELSE baseline.value END) AS speedup_factor,
    ratio(based.value * first_number, first_value * over_number) AS efficiency_ratio,
    CASE
        WHEN value_count = 0 THEN 'the run has no metric ' || $metric
        WHEN value_count < run_count THEN run_count - value_count || ' of ' || run_count || ' runs have no metric ' || $metric
        WHEN over_number IS NULL THEN 'the label is no number'
        WHEN first_number <= 0 THEN 'the label is not above zero'
    END AS reason,
    run_name, run_count, least AS least_metric_value, most AS most_metric_value,
    coalesce($baseline, first_name) AS baseline_name,
    over_number,
    CASE WHEN $metric IN (SELECT metric_name FROM given) THEN CAST($metric AS VARCHAR) ELSE error('no run has the metric ' || $metric || '; metrics: ' || coalesce((SELECT string_agg(DISTINCT metric_name, ', ' ORDER BY metric_name) FROM given), 'none')) END AS metric_name
FROM based, baseline
ORDER BY series, over_number NULLS LAST, over_value
