-- purpose = "Quantiles of a metric are those of the rows with each value of the label."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "distribution"
-- keys = ["metric_name", "group_name", "group_value"]
-- about = ["metric_name", "group_name"]
-- options.metric = []
-- options.by = []
-- needs = ["configuration", "configuration_value"]
-- upon = "table_value"
with
    grouped as (
        select
            metric.column_name as metric_name,
            label.column_name as group_name,
            coalesce(label.value::varchar, label.value_text) as group_key,
            label.value_text,
            label.value as group_number,
            if(label.status_kind = 'failed', 1, 0) as is_failed,
            own.value,
            own.unit
        from (from table_value where role_kind = 'label') as label
        cross join
            (select distinct column_name from table_value where role_kind = 'metric') as metric
        left join
            table_value as own
            on own.event_id = label.event_id
            and own.column_name = metric.column_name
            and own.role_kind = 'metric'
            and own.status_kind <> 'failed'
            -- the unit of no number is none
            and own.value is not null
    ),
    sorted as (
        select
            metric_name,
            group_name,
            min(value_text) as group_value,
            min(group_number) as group_number,
            list_sort(list(value) filter (where value is not null)) as numbers,
            coalesce(len(numbers), 0) as known_count,
            count(*) as configuration_count,
            sum(is_failed) as failed_count,
            avg(value) as mean_value,
            min(unit) as unit
        from grouped
        group by metric_name, group_name, group_key
    ),
    -- the p-th percentile lies p % of the way from the first number to the last
    placed as (
        select
            *,
            [
                (known_count - 1) * share for share in [0.02::double, 0.09, 0.5, 0.91, 0.98]
            ] as places,
            [
                numbers[floor(place)::bigint + 1]
                + (place - floor(place))
                * (numbers[ceil(place)::bigint + 1] - numbers[floor(place)::bigint + 1])
                for place in places
            ] as marks
        from sorted
    )
select
    metric_name,
    group_name,
    group_value,
    group_number,
    marks[3] as median_value,
    marks[2] as p09_value,
    marks[4] as p91_value,
    marks[1] as p02_value,
    marks[5] as p98_value,
    known_count,
    configuration_count,
    failed_count,
    coalesce(
        len([number for number in numbers if number < marks[1] or number > marks[5]]), 0
    ) as outlier_count,
    numbers[1] as min_value,
    numbers[-1] as max_value,
    mean_value,
    unit
from placed
