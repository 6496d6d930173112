-- purpose = "One metric of each configuration with a number that did not fail: a value of a
-- failed one, such as 0, was not measured."
-- source = "tables configuration_value and run_metric; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["sweep_table"]
-- parameters = "wanted_metric"
-- columns = "configuration_id metric_value unit"
select base_id + event_id as configuration_id, value as metric_value, unit
from configuration_value
join sweep_table using (run_id, source_id)
where
    role_kind = 'metric'
    and column_name = wanted_metric
    and value is not null
    and (run_id, source_id, event_id)
    not in (select (run_id, source_id, event_id) from configuration where status_kind = 'failed')
union all
select base_id, any_value(run_metric.value), null
from sweep_table
join run_metric using (run_id)
where sweep_table.source_id = 'run' and run_metric.metric_name = wanted_metric
group by base_id
