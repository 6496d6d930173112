-- purpose = "Kernels on a known device have the time at peak of their launches."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "launch_overhead"
-- keys = ["name"]
-- options.by = ["name", "run"]
-- options.fp16_convention = ["arithmetic", "packed", "scalar"]
-- options.latency_below = []
-- needs = ["device"]
-- upon = "launch_peak"
-- is_partial = true
select
    if(grouping(name) = 1, '(all)', name) as name,
    sum(launches) as launch_count,
    sum(compute_ns) as compute_ns,
    sum(dram_ns) as bandwidth_ns,
    sum(ns) as total_ns,
    sum(flop) as total_flop,
    sum(dram) as total_bytes,
    sum(flop) / nullif(sum(compute_ns), 0) * 1e9 as peak_flop_per_s,
    greatest(sum(compute_ns), sum(dram_ns), sum(l2_ns), sum(l1_ns)) / sum(ns) as roof_ratio,
    grouping(name) = 1 as is_total,
    $fp16_convention as fp16_convention
from launch_peak
group by grouping sets ((name), ())
having
    (grouping(name) = 0 or count(*) = (select count(*) from launch_work))
    and bool_and(compute_ns + dram_ns is not null and coalesce(ns, 0) > 0)
    and roof_ratio <= 1.05
