-- purpose = "Launches at a roof of memory take longer than their bytes by what is above it."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "bandwidth_bound"
-- keys = ["source_id", "device_id", "name"]
-- needs = ["device"]
-- upon = "launch_roof"
-- is_partial = true
-- skips_unknown = true
select
    source_id,
    device_id,
    name,
    floor(round(sum(ns * greatest(1 - near_roof, 0)), 3)) as win_ns,
    sum(launches) as launch_count,
    sum(ns) as total_ns,
    sum(ns * near_roof) / sum(ns) as roof_ratio,
    any_value(elapsed_ns) as elapsed_ns
from launch_roof
where bound_kind = 'bandwidth' and near_roof <= 1.05
group by source_id, device_id, name
having win_ns > 0
