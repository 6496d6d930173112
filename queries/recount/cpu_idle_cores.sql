-- purpose = "A program that keeps less than half of the CPUs busy leaves the others idle."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "cpu_idle_cores"
-- keys = ["source_id", "name"]
-- needs = ["measurement"]
-- upon = "plain_event"
-- is_partial = true
with
    used as (
        select
            plain_event.source_id,
            plain_event.measurement_index,
            target_name,
            dur_ns,
            cpu_count,
            value_of['task-clock'] / dur_ns as used_count,
            running_of['task-clock'] as running
        from plain_event
        join measurement using (source_id, measurement_index)
        where measurement.run_id = $run_id and dur_ns > 0
    )
select
    source_id,
    target_name as name,
    floor(round(dur_ns * (1 - used_count / cpu_count), 3)) as win_ns,
    used_count,
    cpu_count
from used
where used_count < 0.5 * cpu_count
