-- purpose = "Kinds of memory add up to the profiler's total, at the peak of each interval."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "memory_over_time"
-- keys = ["source_id", "process_id", "device_kind", "device_id", "time_ns"]
-- needs = ["memory_event"]
-- is_sum = true
-- is_partial = true
with
    times as (
        select
            *,
            time_ns - min(time_ns) over of_source as elapsed_ns,
            max(time_ns) over of_source - min(time_ns) over of_source as dur_ns,
            bool_and(total_allocated_bytes is not null) over of_source as is_counted
        from memory_event
        where run_id = $run_id
        window of_source as (partition by source_id)
    ),
    -- what kinds have cannot be above the total
    known as (
        select source_id, bool_or(own_bytes > total_allocated_bytes) as is_above
        from
            (
                select
                    *,
                    sum(size_bytes) over (
                        partition by source_id, process_id, device_kind, device_id
                        order by time_ns, event_id
                    ) as own_bytes
                from times
            )
        group by source_id
    )
select
    source_id, process_id, device_kind, device_id, time_ns, total_allocated_bytes as allocated_bytes
from times
join known using (source_id)
where
    is_counted
    and not is_above
    -- releases that are not in the file
    and source_id not in (
        select source_id
        from allocation
        where run_id = $run_id and release_event_id is null and dur_ns is not null
    )
qualify
    row_number() over (
        partition by
            source_id, process_id, device_kind, device_id, divide(200 * elapsed_ns, dur_ns + 1)
        order by total_allocated_bytes desc, time_ns, event_id
    )
    = 1
    -- one event at a time
    and count(*) over (partition by source_id, process_id, device_kind, device_id, time_ns) = 1
