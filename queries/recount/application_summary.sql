-- purpose = "The counters of a run are those of its launches."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "application_summary"
-- keys = ["name"]
-- options.by = ["run", "name"]
-- options.fp16_convention = ["arithmetic", "packed", "scalar"]
-- options.latency_below = []
-- upon = "chosen_work"
-- is_partial = true
with worked as (select *, fp64 + fp32 + fp16_work + tensor as flop from chosen_work)
select
    name,
    sum(launches) as launch_count,
    count(distinct kernel_name) as kernel_count,
    sum(ns) as total_ns,
    sum(flop) as total_flop,
    sum(flop - fp16_work + fp16) as other_flop,
    sum(dram) as total_bytes,
    sum(flop) / sum(dram) as intensity_flop_per_byte,
    sum(flop) / sum(ns) * 1e9 as achieved_flop_per_s,
    sum(dram) / sum(ns) * 1e9 as achieved_bytes_per_s,
    sum(tensor) / sum(flop) as tensor_share_ratio,
    sum(if(flop = 0, launches, 0)) / sum(launches) as zero_ai_launch_ratio,
    sum(if(flop = 0, ns, 0)) / sum(ns) as zero_ai_time_ratio,
    0.0 as unknown_time_ratio,
    sum(occupancy * ns) / sum(if(occupancy is null, null, ns)) as occupancy_ratio,
    sum(compute_busy * ns) / sum(if(compute_busy is null, null, ns)) as compute_throughput_ratio,
    sum(memory_busy * ns) / sum(if(memory_busy is null, null, ns)) as memory_throughput_ratio
from worked
group by 1
having bool_and(flop is not null and coalesce(dram, 0) > 0 and coalesce(ns, 0) > 0)
