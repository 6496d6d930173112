-- purpose = "Devices whose memory is nearly used up, at the maximum that the allocator reserved."
-- source = "torch.profiler: Total Reserved; the device's memory by its properties"
-- needs = ["memory_event", "device"]
-- depends = ["device_listed"]
-- parameters = "run_id full_ratio"
-- full_ratio = {type = "DOUBLE", doc = "share of the memory from which it is nearly used up",
-- default = 0.9}
-- columns = "win_ns-none reserved_bytes allocated_bytes memory_bytes reserved_ratio elapsed_ns-none
-- source_id-rank device_id"
-- reserved_bytes = "BIGINT: maximum that the allocator reserved"
-- allocated_bytes = "BIGINT: maximum that was allocated"
-- reserved_ratio = "DOUBLE: reserved_bytes / memory_bytes"
-- finding.title = "Device memory is nearly used up"
-- finding.evidence = "{reserved_bytes} of {memory_bytes} reserved ({reserved_ratio}),
-- {allocated_bytes} allocated at most"
-- finding.action = "Recompute activations, shard optimizer states, or use smaller types, before the
-- allocator runs out and frees its cache in the middle of a step."
-- finding.command = "query memory_by_kind"
-- finding.pool = "none"
with
    used as (
        select
            source_id,
            device_id,
            max(total_reserved_bytes) as reserved_bytes,
            max(total_allocated_bytes) as allocated_bytes
        from memory_event
        where run_id = $run_id and device_kind <> 'cpu'
        group by source_id, device_id
    )
select
    cast(null as bigint) as win_ns,
    used.reserved_bytes,
    used.allocated_bytes,
    device.memory_bytes,
    ratio(used.reserved_bytes, device.memory_bytes) as reserved_ratio,
    cast(null as bigint) as elapsed_ns,
    used.source_id,
    used.device_id
from used
join
    device_listed as device
    on device.run_id = $run_id
    and device.source_id = used.source_id
    and device.device_id = used.device_id
where reserved_ratio >= $full_ratio
order by reserved_ratio desc, used.source_id, used.device_id
