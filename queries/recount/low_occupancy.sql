-- purpose = "Launches with few warps are as far from the roof as their work and time say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "low_occupancy"
-- keys = ["source_id", "device_id", "name"]
-- needs = ["device"]
-- upon = "launch_roof"
-- is_partial = true
-- skips_unknown = true
select
    source_id,
    device_id,
    name,
    floor(round(sum(ns * greatest(1 - roof, 0)), 3)) as win_ns,
    sum(launches) as launch_count,
    sum(ns) as total_ns,
    sum(ns * roof) / sum(ns) as roof_ratio,
    sum(ns * occupancy) / sum(ns) as occupancy_ratio,
    any_value(elapsed_ns) as elapsed_ns
from launch_roof
where roof < 0.6 and occupancy < 0.3 and tensor = 0
group by source_id, device_id, name
