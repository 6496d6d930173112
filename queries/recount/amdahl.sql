-- purpose = "Speedups on more chips are quotients of the rows with the same labels."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "amdahl"
-- keys = ["over_name", "metric_name", "configuration", "over_number"]
-- options.kind = ["rate", "utilization", "time"]
-- about = ["over_name", "metric_name"]
-- options.over = []
-- options.metric = []
-- needs = ["configuration", "configuration_value"]
-- upon = "table_row"
-- is_partial = true
with
    based as (
        select *, min(over_number) over (partition by over_name) as base_number
        from table_row
        qualify
            count(*) over (partition by over_name, metric_name, configuration, over_number) = 1
            and base_number > 0
    ),
    compared as (
        select
            over_name,
            metric_name,
            configuration,
            own.over_number,
            own.base_number as baseline_number,
            own.value as metric_value,
            base.value as baseline_value,
            case
                $kind
                when 'time'
                then base.value / nullif(own.value, 0)
                when 'utilization'
                then own.value * own.over_number / nullif(base.value * own.base_number, 0)
                else own.value / nullif(base.value, 0)
            end as speedup_factor,
            1 - speedup_factor / (own.over_number / baseline_number) as overhead_ratio,
            (own.over_number - speedup_factor * baseline_number) / nullif(
                speedup_factor * baseline_number * (own.over_number - 1)
                - own.over_number * (baseline_number - 1),
                0
            ) as part
        from based as own
        join based as base using (over_name, metric_name, configuration)
        where own.over_number > own.base_number and base.over_number = base.base_number
    )
select
    * exclude (part),
    if(part between 0 and 1, part, null) as serial_ratio,
    case
        when part between 0 and 1
        then null
        when speedup_factor < 1
        then 'slower on more chips'
        else 'grows faster than the number of chips'
    end as reason
from compared
where speedup_factor is not null
