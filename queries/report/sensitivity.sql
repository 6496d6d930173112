-- purpose = "How much a metric of a sweep follows each label: weights of a linear regression, all brought to one scale."
-- source = "ParaDnn (Wang Y. E. 2020), sect. 2.2, Fig. 2 d to f, 8 a and 9 a; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["configuration_label", "sweep_column", "sweep_kept", "sweep_metric", "sweep_speedup", "sweep_units", "sweep_unknown"]
-- [parameters]
-- metric = {type = "VARCHAR", doc = "metric, e.g. flops; if not given, the only one there is", optional = true, chosen_by = "sweep_choice('metric', $runs, $run_ids)"}
-- labels = {type = "VARCHAR", doc = "labels, with commas between; if not given, all that every configuration with the metric has", optional = true}
-- order = {type = "BIGINT", doc = "1 for labels alone, 2 for products of two labels, too", default = 1}
-- scale = {type = "VARCHAR", doc = "linear, or log: logarithms of the labels and the metric", default = "linear", choices = ["linear", "log"]}
-- over = {type = "VARCHAR", doc = "label that tells platforms apart: the weights are those for the speed-up over the baseline then", optional = true}
-- baseline = {type = "VARCHAR", doc = "with over: its value that the other is compared with", optional = true, chosen_by = "sweep_value($over, $runs, $run_ids)"}
-- less_is_better = {type = "BOOLEAN", doc = "with over: whether the metric is a time", default = false}
-- rule = {type = "VARCHAR", doc = "with over, of several configurations with the same labels: one (refuse them), mean, median, min or max", default = "one", choices = ["one", "mean", "median", "min", "max"]}
-- fixed = {type = "VARCHAR", doc = "values of other labels, with commas between: layer=4,input=2000; if not given, all", optional = true}
-- runs = {type = "VARCHAR", doc = "names of runs, * for any letters", default = "*"}
-- run_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; if not given, all", optional = true}
-- [columns]
-- term = {type = "VARCHAR", doc = "label, or product of two"}
-- weight = {type = "DOUBLE", doc = "standard deviations of the metric for one of the label; NULL if not fitted"}
-- standard_error = {type = "DOUBLE", doc = "of the weight; NULL where there are not more configurations than terms"}
-- reason = {type = "VARCHAR", doc = "why weight is NULL"}
-- r2_ratio = {type = "DOUBLE", doc = "share of the metric's variance that all terms explain together"}
-- row_count = {type = "BIGINT", doc = "configurations in the regression"}
-- left_out_count = {type = "BIGINT", doc = "configurations that are not, as they lack the metric (failed ones among them) or a label"}
-- metric_name = {type = "VARCHAR", doc = "the metric, or the speed-up of it"}
-- scale_kind = {type = "VARCHAR", doc = "linear or log"}
WITH
known AS (
    FROM sweep_unknown('metric', $metric)
    UNION ALL FROM sweep_units($metric, $runs, $run_ids)
    UNION ALL FROM sweep_unknown('label', $over)
    UNION ALL SELECT CASE WHEN $over IS NOT NULL AND $baseline IS NULL THEN error('over=' || $over || ' needs a baseline, one of its values') END WHERE $over IS NOT NULL AND $baseline IS NULL
),
asked AS (
    SELECT trim(unnest(string_split($labels, ','))) AS label_name
),
all_of_them AS (
    SELECT configuration_id, metric_value
    FROM sweep_kept($runs, $run_ids, $fixed)
    LEFT JOIN sweep_metric($metric) USING (configuration_id)
    WHERE $over IS NULL
    UNION ALL
    SELECT configuration_id, speedup_factor
    FROM sweep_speedup($over, $baseline, $metric, $less_is_better, $rule, $runs, $run_ids, $fixed)
    WHERE $over IS NOT NULL
),
measured AS (FROM all_of_them WHERE metric_value IS NOT NULL AND ($scale = 'linear' OR metric_value > 0)),
total AS (SELECT count(*) AS whole_count FROM all_of_them),
columns AS (
    SELECT label_name, list(configuration_id) AS ids, list(label_number) AS numbers
    FROM configuration_label
    WHERE CASE WHEN $labels IS NULL THEN label_name IS DISTINCT FROM $over ELSE label_name IN (FROM asked) END
    GROUP BY label_name
),
weights AS (
    SELECT unnest(regression_weights(columns, metric_ids, metric, $labels IS NULL, CASE WHEN $order IN (1, 2) THEN $order ELSE error('order cannot be ' || $order || '; it is 1 or 2') END, $scale), recursive := true)
    FROM
        (SELECT list(columns) AS columns FROM columns),
        (SELECT coalesce(list(configuration_id), []) AS metric_ids, coalesce(list(metric_value), []) AS metric FROM measured)
    WHERE columns IS NOT NULL
),
told AS (
    FROM weights
    UNION ALL BY NAME
    SELECT
        label_name AS term,
        CASE
            WHEN list_contains(names, label_name) THEN 'no configuration with the metric has it'
            ELSE error('no configuration has the label ' || label_name || '; there are: ' || array_to_string(names, ', '))
        END AS reason
    FROM asked, (SELECT list(column_name ORDER BY column_name) AS names FROM sweep_column WHERE role_kind = 'label')
    WHERE label_name NOT IN (SELECT term FROM weights)
)
SELECT
    term, weight, standard_error, reason, max(r2_ratio) OVER () AS r2_ratio,
    max(row_count) OVER () AS row_count, whole_count - max(row_count) OVER () AS left_out_count,
    CASE
        WHEN $over IS NULL THEN CAST($metric AS VARCHAR)
        ELSE 'speed-up of ' || $metric || ' over ' || $baseline
    END AS metric_name,
    CAST($scale AS VARCHAR) AS scale_kind
FROM told, total
WHERE NOT EXISTS (FROM known)
ORDER BY weight IS NULL, abs(weight) DESC, term
