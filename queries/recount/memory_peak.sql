-- purpose = "At the first peak of a device, memory that is reserved and not allocated is unused;
-- what is allocated in steps is divided by the steps."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "memory_by_kind"
-- keys = ["source_id", "process_id", "device_kind", "device_id", "kind"]
-- needs = ["memory_event", "allocation"]
-- is_partial = true
with
    peak as (
        select
            source_id,
            process_id,
            device_kind,
            device_id,
            max(total_allocated_bytes) as at_peak_bytes,
            arg_max(
                total_reserved_bytes, (total_allocated_bytes, - time_ns, - event_id)
            ) as reserved_at_peak_bytes
        from memory_event
        where
            run_id = $run_id
            and source_id not in (
                select source_id
                from ingest_issue
                where run_id = $run_id and code = 'sampled_events'
            )
        group by source_id, process_id, device_kind, device_id
        having count(*) = count(total_allocated_bytes) and count(address) = count(*)
    ),
    blocks as (
        select source_id, process_id, device_kind, device_id, step_index, size_bytes
        from allocation
        where run_id = $run_id and event_id is not null
        union all
        select source_id, process_id, device_kind, device_id, release_step_index, 0
        from allocation
        where run_id = $run_id and release_event_id is not null
    ),
    allocated as (
        select
            source_id,
            process_id,
            device_kind,
            device_id,
            sum(size_bytes) filter (where step_index is not null)
            / count(distinct step_index) as step_bytes
        from blocks
        group by source_id, process_id, device_kind, device_id
    )
select
    peak.source_id,
    peak.process_id,
    peak.device_kind,
    peak.device_id,
    '(all)' as kind,
    at_peak_bytes,
    reserved_at_peak_bytes,
    if(
        reserved_at_peak_bytes >= at_peak_bytes, reserved_at_peak_bytes - at_peak_bytes, null
    ) as unused_at_peak_bytes,
    if(isfinite(step_bytes), step_bytes, null) as allocated_step_bytes
from peak
join
    allocated
    on allocated.source_id = peak.source_id
    and allocated.process_id is not distinct from peak.process_id
    and allocated.device_kind is not distinct from peak.device_kind
    and allocated.device_id is not distinct from peak.device_id
