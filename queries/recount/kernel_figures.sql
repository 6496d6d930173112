-- purpose = "Kernels with counters have the work, times and rates of their launches."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "kernel_figures"
-- keys = ["name"]
-- needs = ["kernel_counter"]
-- upon = "launch_work"
-- is_partial = true
select
    name,
    sum(launches) as launch_count,
    sum(ns) as total_ns,
    sum(ns) / sum(launches) as mean_ns,
    sum(fp64 + fp32 + tensor + fp16_work) as total_flop,
    sum(fp64 + fp32 + tensor + fp16) as other_flop,
    sum(dram) as total_bytes,
    total_flop / nullif(total_bytes, 0) as intensity_flop_per_byte,
    total_flop / sum(ns) * 1e9 as achieved_flop_per_s,
    sum(occupancy * ns) / sum(if(occupancy is null, null, ns)) as occupancy_ratio,
    sum(compute_busy * ns) / sum(if(compute_busy is null, null, ns)) as compute_throughput_ratio,
    sum(memory_busy * ns) / sum(if(memory_busy is null, null, ns)) as memory_throughput_ratio
from launch_work
group by name
having bool_and(fp64 + fp32 + fp16 + tensor + dram is not null and coalesce(ns, 0) > 0)
