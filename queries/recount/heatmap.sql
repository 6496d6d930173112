-- purpose = "Each cell of two labels has the rows with both values."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "heatmap"
-- keys = ["x_name", "y_name", "metric_name", "x_value", "y_value"]
-- about = ["x_name", "y_name", "metric_name"]
-- options.rule = ["mean", "median", "min", "max"]
-- options.x = []
-- options.y = []
-- options.metric = []
-- needs = ["configuration", "configuration_value"]
-- upon = "table_value"
with
    label as (
        select
            column_name,
            event_id,
            value_text,
            value,
            coalesce(value::varchar, value_text) as spelled,
            status_kind,
            status_text
        from table_value
        where role_kind = 'label'
    ),
    metric as (
        select column_name, event_id, if(status_kind = 'failed', null, value) as known_value, unit
        from table_value
        where role_kind = 'metric'
    ),
    cell as (
        select
            across.column_name as x_name,
            up.column_name as y_name,
            metrics.column_name as metric_name,
            min(across.value_text) as x_value,
            min(up.value_text) as y_value,
            min(across.value) as x_number,
            min(up.value) as y_number,
            count(*) as configuration_count,
            count(*) filter (where across.status_kind = 'failed') as failed_count,
            count(known_value) as known_count,
            string_agg(distinct across.status_text, ', ' order by across.status_text) filter (
                where known_value is null and across.status_kind = 'failed'
            ) as failure,
            avg(known_value) as mean_value,
            median(known_value) as median_value,
            min(known_value) as least_metric_value,
            max(known_value) as most_metric_value,
            min(unit) filter (where known_value is not null) as unit
        from label as across
        join label as up on up.event_id = across.event_id and up.column_name <> across.column_name
        cross join (select distinct column_name from metric) as metrics
        left join
            metric on metric.event_id = across.event_id and metric.column_name = metrics.column_name
        group by across.column_name, up.column_name, metrics.column_name, across.spelled, up.spelled
    )
select
    x_name,
    y_name,
    metric_name,
    x_value,
    y_value,
    x_number,
    y_number,
    configuration_count,
    failed_count,
    case
        $rule
        when 'mean'
        then mean_value
        when 'median'
        then median_value
        when 'min'
        then least_metric_value
        else most_metric_value
    end as metric_value,
    least_metric_value,
    most_metric_value,
    if(
        known_count < configuration_count,
        coalesce(failure, 'not measured') || if(
            configuration_count > 1,
            ': ' || configuration_count - known_count || ' of ' || configuration_count,
            ''
        ),
        null
    ) as reason,
    unit
from cell
