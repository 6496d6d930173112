-- purpose = "Allocations of a device are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "memory_by_kind"
-- keys = ["source_id", "process_id", "device_kind", "device_id", "kind"]
-- needs = ["memory_event"]
-- is_partial = true
select
    source_id,
    process_id,
    device_kind,
    device_id,
    '(all)' as kind,
    count(*) filter (where size_bytes > 0) as allocation_count,
    sum(size_bytes) filter (where size_bytes > 0) as allocated_bytes,
    max(total_allocated_bytes) as peak_bytes,
    max(total_reserved_bytes) as reserved_peak_bytes
from memory_event
where run_id = $run_id
group by all
