-- purpose = "Loss of a sweep on more chips (cores, nodes): overhead, and the non-parallel part of
-- the work by Amdahl's law."
-- source = "ParaDnn (Wang Y. E. 2020), sect. 4.3 and Fig. 4; G. M. Amdahl, AFIPS 1967;
-- docs/metrics.md, section Sweeps"
-- topic = "sweeps"
-- needs = ["run"]
-- depends = ["sweep_speedup", "sweep_missing"]
-- parameters = "over metric kind baseline fixed rule runs run_ids"
-- kind = {type = "VARCHAR", doc = "kind of the metric: rate (of all chips together), utilization
-- (of each chip) or time", default = "rate", choices = ["rate", "utilization", "time"]}
-- baseline = {type = "VARCHAR", doc = "baseline number of chips; default: the lowest", optional =
-- true}
-- columns = "configuration over_number speedup_factor overhead_ratio serial_ratio metric_value
-- baseline_value reason baseline_number over_name metric_name"
-- configuration = "labels common to all, except the number of chips"
-- over_number = "DOUBLE: number of chips, N"
-- speedup_factor = "S: rate on N chips / rate of the baseline (inverse for time); for utilization
-- N / N0 x util(N) / util(N0)"
-- overhead_ratio = "DOUBLE: 1 - speedup_factor / (over_number / baseline_number): loss per chip
-- relative to the baseline; negative for a gain"
-- serial_ratio = "DOUBLE: non-parallel part of the work on one chip; for N0 = 1: (N / S - 1) / (N
-- - 1)"
-- metric_value = "the metric on N chips"
-- baseline_number = "DOUBLE: N0: chips of the baseline"
with
    known as (from sweep_missing($over, $metric, $runs, $run_ids)),
    pairs as (
        select
            configuration,
            try_cast(platform_value as double) as over_number,
            try_cast(baseline_name as double) as base_number,
            metric_value,
            baseline_value,
            reason,
            speedup_factor * case
                $kind when 'utilization' then ratio(over_number, base_number) else 1
            end as speedup_factor
        from
            sweep_speedup(
                $over,
                format('{:.15g}', try_cast($baseline as double)),
                $metric,
                $kind = 'time',
                $rule,
                $runs,
                $run_ids,
                $fixed
            )
    ),
    parted as (
        select
            *,
            -- in whole numbers, where as fast as the base is exactly 1
            ratio(
                over_number - speedup_factor * base_number,
                speedup_factor * base_number * (over_number - 1) - over_number * (base_number - 1)
            ) as serial_ratio
        from pairs
    )
select
    configuration,
    over_number,
    speedup_factor,
    1 - ratio(speedup_factor * base_number, over_number) as overhead_ratio,
    case when serial_ratio between 0 and 1 then abs(serial_ratio) end as serial_ratio,
    metric_value,
    baseline_value,
    case
        when reason is not null
        then reason
        when over_number is null
        then 'the label is no number'
        when over_number <= 0 or base_number <= 0
        then 'the label is not above zero'
        when serial_ratio between 0 and 1
        then null
        when (speedup_factor - 1) * (over_number - base_number) < 0
        then 'slower on more chips'
        else 'grows faster than the number of chips'
    end as reason,
    base_number as baseline_number,
    cast($over as varchar) as over_name,
    cast($metric as varchar) as metric_name
from parted
where not exists (from known)
order by configuration, over_number
