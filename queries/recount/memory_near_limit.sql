-- purpose = "The allocator reserved nine tenths of a device or more."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "memory_near_limit"
-- keys = ["source_id", "device_id"]
-- needs = ["memory_event", "device"]
with
    devices as (
        select source_id, device_id, max(memory_bytes) as memory_bytes
        from device
        where run_id = $run_id
        group by source_id, device_id
    )
select
    source_id,
    device_id,
    max(total_reserved_bytes) as reserved_bytes,
    max(total_allocated_bytes) as allocated_bytes,
    any_value(memory_bytes) as memory_bytes,
    max(total_reserved_bytes) / any_value(memory_bytes) as reserved_ratio
from memory_event
join devices using (source_id, device_id)
where run_id = $run_id and device_kind <> 'cpu' and memory_bytes > 0
group by source_id, device_id
having max(total_reserved_bytes) >= 0.9 * any_value(memory_bytes)
