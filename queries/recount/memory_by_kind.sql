-- purpose = "Allocations of a device are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "memory_by_kind"
-- keys = ["source_id", "process_id", "device_kind", "device_id", "kind"]
-- needs = ["memory_event"]
-- is_partial = true
-- skips_unknown = true
select
    source_id,
    process_id,
    device_kind,
    device_id,
    '(all)' as kind,
    if(count(address) = count(*), count(*) filter (where size_bytes > 0), null) as allocation_count,
    if(
        count(address) = count(*), sum(size_bytes) filter (where size_bytes > 0), null
    ) as allocated_bytes,
    max(total_allocated_bytes) as peak_bytes,
    true as is_total,
    if(max(total_allocated_bytes) > 0 and count(address) = 0, 1.0, null) as share_ratio,
    max(total_reserved_bytes) as reserved_peak_bytes
from memory_event
where
    run_id = $run_id
    and source_id
    not in (select source_id from ingest_issue where run_id = $run_id and code = 'sampled_events')
group by all
