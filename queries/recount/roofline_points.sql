-- purpose = "Points of a roofline have the work and bytes of their launches."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "roofline_points"
-- keys = ["name", "event_id", "level_name"]
-- options.level = ["dram", "l2", "l1"]
-- options.by = ["name", "launch", "run"]
-- options.fp16_convention = ["arithmetic", "packed", "scalar"]
-- needs = ["device"]
-- upon = "launch_peak"
-- is_partial = true
select
    $run_id as run_id,
    (select run_name from run where run_id = $run_id) as run_name,
    name,
    event_id,
    $level as level_name,
    sum(launches) as launch_count,
    sum(launches) as known_launch_count,
    sum(ns) as total_ns,
    sum(ns) as known_ns,
    sum(flop) as known_flop,
    sum(case $level when 'l2' then l2 when 'l1' then l1 else dram end) as known_bytes,
    sum(compute_ns) as compute_ns,
    sum(case $level when 'l2' then l2_ns when 'l1' then l1_ns else dram_ns end) as bandwidth_ns,
    greatest(sum(dram_ns), sum(l2_ns), sum(l1_ns)) as memory_ns,
    sum(if(flop = 0, launches, 0)) as zero_launch_count,
    sum(if(flop = 0, ns, 0)) as zero_ns
from launch_peak
group by name, event_id
having bool_and(compute_ns + dram_ns + l2_ns + l1_ns is not null and coalesce(ns, 0) > 0)
