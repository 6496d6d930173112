-- purpose = "Active processor time of commands is that of their clock."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "cpu_utilization"
-- needs = ["measurement", "counter"]
-- upon = "plain_event"
-- is_partial = true
-- skips_unknown = true
select
    value_of['task-clock'] as active_ns,
    'task-clock' as active_basis,
    1 as source_count,
    if(
        measurement.cpu_count is null
        and not exists (from device where run_id = $run_id)
        and not exists (from assumption where run_id = $run_id),
        'number of CPUs unknown: use --device at ingest, or the parameter cpu_count',
        null
    ) as reason,
    (select any_value(run_name) from run where run_id = $run_id) as name,
    measurement.dur_ns,
    value_of['task-clock'] / measurement.dur_ns as active_cpu_count,
    value_of['task-clock'] / measurement.dur_ns / measurement.cpu_count as utilization_ratio
from plain_event
join (from measurement where run_id = $run_id) as measurement using (source_id, measurement_index)
where
    target_kind = 'command'
    and measurement.dur_ns > 0
    and (select count(*) from measurement where run_id = $run_id) = 1
    and not exists (from ingest_issue where run_id = $run_id and code = 'clock_contradicts_time')
    and value_of['task-clock'] < measurement.dur_ns * coalesce(measurement.cpu_count, 1e9)
