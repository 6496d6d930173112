-- purpose = "Speedup of each configuration of a sweep between two platforms, one row per
-- configuration."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 8 and 9: speedup = metric(platform) /
-- metric(baseline) of the same model; docs/metrics.md, section Sweeps"
-- topic = "sweeps"
-- needs = ["run"]
-- depends = ["sweep_label", "sweep_metric", "sweep_speedup", "sweep_unknown", "sweep_missing"]
-- parameters = "over baseline metric less_is_better fixed rule x color runs run_ids"
-- over = {doc = "label with the platforms, e.g. platform; default: the only one that differs
-- between runs, else between configurations", chosen_by = "sweep_choice('platform', $runs,
-- $run_ids)"}
-- baseline = {type = "VARCHAR", doc = "baseline value of the label, e.g. v100", chosen_by =
-- "sweep_value($over, $runs, $run_ids)"}
-- metric = {doc = "metric; more is faster, unless less_is_better; default: example_per_sec, else
-- the only one", chosen_by = "sweep_choice('speed', $runs, $run_ids)"}
-- x = {type = "VARCHAR", doc = "metric or label shown for each speedup as x_value, e.g. params",
-- optional = true}
-- color = {type = "VARCHAR", doc = "label shown for each speedup as color_value, e.g. bs",
-- optional = true}
-- columns = "platform_value configuration speedup_factor metric_value-platform baseline_value
-- reason x_value color_value color_number x_name color_name metric_name baseline_name"
-- reason = "why speedup_factor is NULL: which platform lacks it, and why"
-- x_value = "DOUBLE: value of x on the platform (else on the baseline)"
-- color_value = "VARCHAR: value of the label color"
-- color_number = "DOUBLE: that value as a number; NULL if it is not a number"
-- x_name = "VARCHAR: what x_value is"
-- color_name = "VARCHAR: what color_value is"
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
