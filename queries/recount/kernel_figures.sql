-- purpose = "Kernels with counters have the work, times and rates of their launches."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "kernel_figures"
-- keys = ["name", "event_id"]
-- options.by = ["name", "launch", "run"]
-- options.fp16_convention = ["arithmetic", "packed", "scalar"]
-- options.level = ["dram", "l2", "l1"]
-- upon = "chosen_work"
-- is_partial = true
select
    name,
    event_id,
    sum(launches) as launch_count,
    sum(ns) as total_ns,
    sum(ns) / sum(launches) as mean_ns,
    sum(fp64 + fp32 + tensor + fp16_work) as total_flop,
    sum(fp64 + fp32 + tensor + fp16) as other_flop,
    sum(case $level when 'l2' then l2 when 'l1' then l1 else dram end) as total_bytes,
    total_flop / nullif(total_bytes, 0) as intensity_flop_per_byte,
    total_flop / sum(ns) * 1e9 as achieved_flop_per_s,
    sum(occupancy * ns) / sum(if(occupancy is null, null, ns)) as occupancy_ratio,
    sum(compute_busy * ns) / sum(if(compute_busy is null, null, ns)) as compute_throughput_ratio,
    sum(memory_busy * ns) / sum(if(memory_busy is null, null, ns)) as memory_throughput_ratio,
    $level as level_name,
    $fp16_convention as fp16_convention,
    null as missing_metrics
from chosen_work
group by name, event_id
having
    bool_and(
        fp64 + fp32 + fp16 + tensor is not null
        -- what moves nothing has no intensity
        and if($level = 'dram', dram, least(l2, l1)) > 0
        and coalesce(ns, 0) > 0
    )
