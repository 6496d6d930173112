-- purpose = "Scaling is the mean of the rows at each value of the label, over the lowest value."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "scaling"
-- keys = ["over_name", "metric_name", "series", "over_number"]
-- about = ["over_name", "metric_name"]
-- options.over = []
-- options.metric = []
-- needs = ["configuration", "configuration_value"]
-- upon = "table_row"
with
    point as (
        select
            over_name,
            metric_name,
            series,
            over_number,
            min(over_value) as over_value,
            avg(value) as metric_value,
            min(value) as least_metric_value,
            max(value) as most_metric_value,
            count(value) as
        values, count(*) as run_count, min(unit) as unit
        from table_row
        group by all
    ),
    base as (
        select over_name, metric_name, series, min(over_number) as over_number
        from point
        where metric_value is not null
        group by all
    ),
    based as (
        select
            point.*,
            base.over_number as base_number,
            first.over_value as baseline_name,
            coalesce(
                point.unit in ('s', 'ms', 'us', 'ns'),
                regexp_matches(point.metric_name, '(^|_)(ns|us|ms|s)$')
                and not contains(point.metric_name, '_per_')
            ) as is_time,
            if(is_time, first.metric_value, point.metric_value)
            / nullif(if(is_time, point.metric_value, first.metric_value), 0) as speedup_factor
        from point
        left join
            base
            on base.over_name = point.over_name
            and base.metric_name = point.metric_name
            and base.series is not distinct from point.series
        left join
            point as first
            on first.over_name = base.over_name
            and first.metric_name = base.metric_name
            and first.series is not distinct from base.series
            and first.over_number = base.over_number
    )
select
    over_name,
    metric_name,
    series,
    over_number,
    over_value,
    metric_value,
    least_metric_value,
    most_metric_value,
    run_count,
    speedup_factor,
    speedup_factor * base_number / nullif(over_number, 0) as efficiency_ratio,
    baseline_name,
    is_time,
    case
        when
        values = 0
        then 'no figure of the metric ' || metric_name
        when
        values < run_count
        then run_count -
        values || ' of ' || run_count || ' have no figure of the metric ' || metric_name
        when base_number <= 0
        then 'the label is not above zero'
    end as reason
from based
