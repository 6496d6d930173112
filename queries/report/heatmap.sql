-- purpose = "A metric of a sweep over two labels: one row a pair of values."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 2 a to c, Fig. 7 (failures); docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["sweep_kept", "sweep_label", "sweep_metric", "sweep_table", "sweep_units", "sweep_unknown"]
-- [parameters]
-- x = {type = "VARCHAR", doc = "label across, e.g. node", chosen_by = "sweep_choice('label', $runs, $run_ids)"}
-- y = {type = "VARCHAR", doc = "label up, e.g. batch", chosen_by = "sweep_choice('label', $runs, $run_ids)"}
-- metric = {type = "VARCHAR", doc = "metric, e.g. flops; if not given, the only one there is", optional = true, chosen_by = "sweep_choice('metric', $runs, $run_ids)"}
-- fixed = {type = "VARCHAR", doc = "values of other labels, with commas between: layer=4,input=2000; if not given, all", optional = true}
-- rule = {type = "VARCHAR", doc = "of several configurations in one cell: one (refuse them), mean, median, min or max", default = "one", choices = ["one", "mean", "median", "min", "max"]}
-- runs = {type = "VARCHAR", doc = "names of runs, * for any letters", default = "*"}
-- run_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; if not given, all", optional = true}
-- [columns]
-- x_value = {type = "VARCHAR", doc = "value of the label across"}
-- y_value = {type = "VARCHAR", doc = "value of the label up"}
-- metric_value = {type = "DOUBLE", doc = "the metric, by the rule; NULL where no configuration of the cell has it"}
-- configuration_count = {type = "BIGINT", doc = "configurations in the cell"}
-- failed_count = {type = "BIGINT", doc = "of those the failed ones"}
-- reason = {type = "VARCHAR", doc = "why metric_value is NULL, or of fewer configurations"}
-- least_metric_value = {type = "DOUBLE", doc = "the least of the cell"}
-- most_metric_value = {type = "DOUBLE", doc = "the most of the cell"}
-- x_number = {type = "DOUBLE", doc = "the value across as a number; NULL if it is none"}
-- y_number = {type = "DOUBLE", doc = "the value up as a number; NULL if it is none"}
-- x_name = {type = "VARCHAR", doc = "the label across"}
-- y_name = {type = "VARCHAR", doc = "the label up"}
-- metric_name = {type = "VARCHAR", doc = "the metric"}
-- unit = {type = "VARCHAR", doc = "its unit, where the file says it"}
WITH
known AS (
    FROM sweep_unknown('label', $x)
    UNION ALL FROM sweep_unknown('label', $y)
    UNION ALL FROM sweep_unknown('metric', $metric)
    UNION ALL FROM sweep_units($metric, $runs, $run_ids)
    UNION ALL SELECT error('x and y are both ' || $x || '; name another label for one of them') WHERE $x = $y AND EXISTS (FROM sweep_table)
),
cells AS (
    SELECT
        here.status_kind, here.status_text,
        across.label_value AS x_value, across.label_number AS x_number,
        up.label_value AS y_value, up.label_number AS y_number,
        measured.metric_value, measured.unit
    FROM sweep_kept($runs, $run_ids, $fixed) AS here
    JOIN sweep_label($x) AS across USING (configuration_id)
    JOIN sweep_label($y) AS up USING (configuration_id)
    LEFT JOIN sweep_metric($metric) AS measured USING (configuration_id)
)
SELECT
    any_value(cells.x_value) AS x_value,
    any_value(cells.y_value) AS y_value,
    CASE $rule
        WHEN 'mean' THEN avg(metric_value)
        WHEN 'median' THEN median(metric_value)
        WHEN 'min' THEN min(metric_value)
        WHEN 'max' THEN max(metric_value)
        ELSE CASE WHEN count(*) = 1 THEN any_value(metric_value) ELSE error(count(*) || ' configurations with ' || $x || '=' || any_value(x_value) || ' and ' || $y || '=' || any_value(y_value) || ': keep those with certain labels (fixed, of a chart --where: layer=4), or name a rule that makes one of them (rule: mean, median, min or max)') END
    END AS metric_value,
    count(*) AS configuration_count,
    count(*) FILTER (WHERE status_kind = 'failed') AS failed_count,
    CASE
        WHEN count(metric_value) < count(*) THEN
            coalesce(string_agg(DISTINCT status_text, ', ' ORDER BY status_text) FILTER (WHERE metric_value IS NULL AND status_kind = 'failed'), 'not measured')
            || CASE WHEN count(*) > 1 THEN ': ' || count(*) - count(metric_value) || ' of ' || count(*) ELSE '' END
    END AS reason,
    min(metric_value) AS least_metric_value, max(metric_value) AS most_metric_value,
    x_number, y_number, CAST($x AS VARCHAR) AS x_name, CAST($y AS VARCHAR) AS y_name, CAST($metric AS VARCHAR) AS metric_name, any_value(unit) AS unit
FROM cells
GROUP BY x_number, CASE WHEN x_number IS NULL THEN cells.x_value END, y_number, CASE WHEN y_number IS NULL THEN cells.y_value END
HAVING NOT EXISTS (FROM known)
ORDER BY x_number NULLS LAST, x_value, y_number NULLS LAST, y_value
