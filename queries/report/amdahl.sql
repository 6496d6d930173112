-- purpose = "What a sweep loses on more chips (cores, nodes): overhead, and the part of the work that does not run in parallel, by Amdahl's law."
-- source = "ParaDnn (Wang Y. E. 2020), sect. 4.3 and Fig. 4; G. M. Amdahl, AFIPS 1967; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["sweep_speedup", "sweep_units", "sweep_unknown"]
-- [parameters]
-- over = {type = "VARCHAR", doc = "label with the number of chips, cores or nodes, e.g. cores; if not given, the only one of numbers in which runs differ, else in which configurations do", optional = true, chosen_by = "sweep_choice('chips', $runs, $run_ids)"}
-- metric = {type = "VARCHAR", doc = "metric, e.g. images_per_s; if not given, the only one there is", optional = true, chosen_by = "sweep_choice('metric', $runs, $run_ids)"}
-- kind = {type = "VARCHAR", doc = "what the metric is: rate (of all chips together), utilization (of each chip) or time", default = "rate", choices = ["rate", "utilization", "time"]}
-- baseline = {type = "VARCHAR", doc = "number that the others are compared with; if not given, the least there is", optional = true}
-- fixed = {type = "VARCHAR", doc = "values of other labels, with commas between: layer=4,input=2000; if not given, all", optional = true}
-- rule = {type = "VARCHAR", doc = "of several configurations with the same labels: one (refuse them), mean, median, min or max", default = "one", choices = ["one", "mean", "median", "min", "max"]}
-- runs = {type = "VARCHAR", doc = "names of runs, * for any letters", default = "*"}
-- run_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; if not given, all", optional = true}
-- [columns]
-- configuration = {type = "VARCHAR", doc = "the labels that all have, but for the number of chips"}
-- over_number = {type = "DOUBLE", doc = "number of chips, N"}
-- speedup_factor = {type = "DOUBLE", doc = "S: rate on N chips / rate on the baseline's (time inversely); of utilization N / N0 x util(N) / util(N0)"}
-- overhead_ratio = {type = "DOUBLE", doc = "1 - S / (N / N0): what is lost of each chip beside the baseline; below 0 where it gains"}
-- serial_ratio = {type = "DOUBLE", doc = "non-parallel part of the work on one chip: with N0 = 1 (N / S - 1) / (N - 1)"}
-- metric_value = {type = "DOUBLE", doc = "the metric on N chips"}
-- baseline_value = {type = "DOUBLE", doc = "the metric on the baseline's"}
-- reason = {type = "VARCHAR", doc = "why a figure is NULL"}
-- baseline_number = {type = "DOUBLE", doc = "chips of the baseline, N0"}
-- over_name = {type = "VARCHAR", doc = "the label"}
-- metric_name = {type = "VARCHAR", doc = "the metric"}
WITH
known AS (
    FROM sweep_unknown('label', $over)
    UNION ALL FROM sweep_unknown('metric', $metric)
    UNION ALL FROM sweep_units($metric, $runs, $run_ids)
),
pairs AS (
    SELECT
        configuration, try_cast(platform_value AS DOUBLE) AS over_number, try_cast(baseline_name AS DOUBLE) AS base_number,
        metric_value, baseline_value, reason,
        speedup_factor * CASE $kind WHEN 'utilization' THEN ratio(over_number, base_number) ELSE 1 END AS speedup_factor
    FROM sweep_speedup($over, format('{:.15g}', try_cast($baseline AS DOUBLE)), $metric, $kind = 'time', $rule, $runs, $run_ids, $fixed)
),
parted AS (
    SELECT
        *,
        ratio(
            ratio(1, base_number) - ratio(speedup_factor, over_number),
            speedup_factor * (1 - ratio(1, over_number)) - (1 - ratio(1, base_number))
        ) AS serial_ratio
    FROM pairs
)
SELECT
    configuration, over_number, speedup_factor,
    1 - ratio(speedup_factor * base_number, over_number) AS overhead_ratio,
    CASE WHEN serial_ratio BETWEEN 0 AND 1 THEN abs(serial_ratio) END AS serial_ratio,
    metric_value, baseline_value,
    CASE
        WHEN reason IS NOT NULL THEN reason
        WHEN over_number IS NULL THEN 'the label is no number'
        WHEN over_number <= 0 OR base_number <= 0 THEN 'the label is not above zero'
        WHEN serial_ratio BETWEEN 0 AND 1 THEN NULL
        WHEN (speedup_factor - 1) * (over_number - base_number) < 0 THEN 'slower on more chips'
        ELSE 'grows faster than the number of chips'
    END AS reason,
    base_number AS baseline_number, CAST($over AS VARCHAR) AS over_name, CAST($metric AS VARCHAR) AS metric_name
FROM parted
WHERE NOT EXISTS (FROM known)
ORDER BY configuration, over_number
