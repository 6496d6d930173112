-- purpose = "The most that an allocator reserved is the same in the finding and in
-- memory_by_kind."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["memory_by_kind", "memory_near_limit"]
select
    device_named(found.device_id, found.source_id) as subject,
    'memory_near_limit.reserved_bytes' as first_figure,
    found.reserved_bytes as first_value,
    'memory_by_kind.reserved_peak_bytes' as second_figure,
    told.reserved_peak_bytes as second_value
from memory_near_limit as found
join
    memory_by_kind as told
    on told.source_id = found.source_id
    and told.device_id = found.device_id
    and told.device_kind <> 'cpu'
    and told.is_total
where differs(found.reserved_bytes, told.reserved_peak_bytes)
