-- purpose = "Speedup of each configuration of a sweep between two platforms, one row per
-- configuration."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 8 and 9: speedup = metric(platform) /
-- metric(baseline) of the same model; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["sweep_label", "sweep_metric", "sweep_speedup", "sweep_unknown", "sweep_missing"]
-- [parameters]
-- over = {type = "VARCHAR", doc = "label with the platforms, e.g. platform; default: the only one
-- that differs between runs, else between configurations", optional = true, chosen_by =
-- "sweep_choice('platform', $runs, $run_ids)"}
-- baseline = {type = "VARCHAR", doc = "baseline value of the label, e.g. v100", chosen_by =
-- "sweep_value($over, $runs, $run_ids)"}
-- metric = {type = "VARCHAR", doc = "metric; more is faster, unless less_is_better; default:
-- example_per_sec, else the only one", optional = true, chosen_by = "sweep_choice('speed', $runs,
-- $run_ids)"}
-- less_is_better = {type = "BOOLEAN", doc = "whether the metric is a time; the speedup is then
-- baseline / platform", default = false}
-- fixed = {type = "VARCHAR", doc = "values of other labels, comma-separated: layer=4,input=2000;
-- default: all", optional = true}
-- rule = {type = "VARCHAR", doc = "for several configurations with the same labels: one (refuse
-- them), mean, median, min or max", default = "one", choices = ["one", "mean", "median", "min",
-- "max"]}
-- x = {type = "VARCHAR", doc = "metric or label shown for each speedup as x_value, e.g. params",
-- optional = true}
-- color = {type = "VARCHAR", doc = "label shown for each speedup as color_value, e.g. bs",
-- optional = true}
-- runs = {type = "VARCHAR", doc = "names of runs; * matches any text", default = "*"}
-- run_ids = {type = "VARCHAR", doc = "ids of runs, comma-separated; default: all", optional = true}
-- [columns]
-- platform_value = {type = "VARCHAR", doc = "the platform"}
-- configuration = {type = "VARCHAR", doc = "labels common to all platforms, except the platform"}
-- speedup_factor = {type = "DOUBLE", doc = "speed over the baseline; NULL if either lacks the
-- configuration"}
-- metric_value = {type = "DOUBLE", doc = "metric on the platform"}
-- baseline_value = {type = "DOUBLE", doc = "metric on the baseline"}
-- reason = {type = "VARCHAR", doc = "why speedup_factor is NULL: which platform lacks it, and why"}
-- x_value = {type = "DOUBLE", doc = "value of x on the platform (else on the baseline)"}
-- color_value = {type = "VARCHAR", doc = "value of the label color"}
-- color_number = {type = "DOUBLE", doc = "that value as a number; NULL if it is not a number"}
-- x_name = {type = "VARCHAR", doc = "what x_value is"}
-- color_name = {type = "VARCHAR", doc = "what color_value is"}
-- metric_name = {type = "VARCHAR", doc = "the metric"}
-- baseline_name = {type = "VARCHAR", doc = "the baseline"}
with
    known as (
        from sweep_missing($over, $metric, $runs, $run_ids)
        union all
        from sweep_unknown('label', $color)
        union all
        from sweep_unknown('%', $x)
    ),
    placed as (
        select configuration_id, metric_value as x_value
        from sweep_metric($x)
        union all
        select configuration_id, label_number
        from sweep_label($x)
    ),
    colored as (from sweep_label($color))
select
    platform_value,
    configuration,
    speedup_factor,
    pairs.metric_value,
    baseline_value,
    reason,
    x_value,
    colored.label_value as color_value,
    colored.label_number as color_number,
    cast($x as varchar) as x_name,
    cast($color as varchar) as color_name,
    cast($metric as varchar) as metric_name,
    cast($baseline as varchar) as baseline_name
from
    sweep_speedup(
        $over, $baseline, $metric, $less_is_better, $rule, $runs, $run_ids, $fixed
    ) as pairs
left join placed using (configuration_id)
left join colored using (configuration_id)
where not exists (from known)
order by speedup_factor desc nulls last, platform_value, configuration
