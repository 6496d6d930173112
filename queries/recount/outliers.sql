-- purpose = "Outliers are the rows below or above the marks of their group."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 11"
-- report = "outliers"
-- keys = ["metric_name", "group_name", "source_id", "event_id"]
-- about = ["metric_name", "group_name"]
-- needs = ["configuration", "configuration_value"]
-- upon = "table_value"
-- is_partial = true
with
    grouped as (
        select
            metric.column_name as metric_name,
            label.column_name as group_name,
            label.value_text as group_value,
            label.value as group_number,
            coalesce(label.value::varchar, label.value_text) as group_key,
            metric.source_id,
            metric.event_id,
            metric.value as metric_value,
            metric.unit,
            quantile_cont(metric.value, 0.02) over same as p02_value,
            quantile_cont(metric.value, 0.98) over same as p98_value
        from (from table_value where role_kind = 'label') as label
        join
            (
                from table_value
                where role_kind = 'metric' and status_kind <> 'failed' and value is not null
            ) as metric using (event_id)
        window same as (partition by metric.column_name, label.column_name, group_key)
    )
select
    metric_name,
    group_name,
    source_id,
    event_id,
    group_value,
    group_number,
    metric_value,
    p02_value,
    p98_value,
    unit
from grouped
where metric_value not between p02_value and p98_value
