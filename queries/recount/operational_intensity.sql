-- purpose = "Work, bytes and rates of kernels at each memory are those of their launches."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "operational_intensity"
-- keys = ["name", "event_id", "level_name"]
-- options.by = ["name", "launch", "run"]
-- options.fp16_convention = ["arithmetic", "packed", "scalar"]
-- upon = "chosen_work"
-- is_partial = true
with moved as (unpivot chosen_work on dram, l2, l1 into name level_name value bytes)
select
    name,
    event_id,
    level_name,
    sum(launches) as launch_count,
    sum(launches) filter (where bytes > 0) as known_launch_count,
    sum(ns) as total_ns,
    sum(fp64 + fp32 + fp16_work + tensor) as total_flop,
    sum(fp64 + fp32 + fp16 + tensor) as other_flop,
    sum(bytes) as total_bytes,
    sum(if(bytes > 0, fp64 + fp32 + fp16_work + tensor, 0))
    / nullif(total_bytes, 0) as intensity_flop_per_byte,
    total_flop / sum(ns) * 1e9 as achieved_flop_per_s,
    total_bytes / sum(ns) * 1e9 as achieved_bytes_per_s,
    'all' as precision_name,
    $fp16_convention as fp16_convention,
    if(bool_and(bytes > 0), null, level_name || ': no bytes') as reason
from moved
group by name, event_id, level_name
having
    bool_and(bytes is not null)
    and bool_and(fp64 + fp32 + fp16 + tensor is not null and coalesce(ns, 0) > 0)
    and sum(bytes) > 0
    and count(*) = (
        select count(*)
        from chosen_work as every
        where every.name = moved.name and every.event_id is not distinct from moved.event_id
    )
