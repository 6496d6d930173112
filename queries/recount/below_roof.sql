-- purpose = "Launches that nothing keeps busy take longer than their work at the roof."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "below_roof"
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
where bound_kind = 'latency' and near_roof < 0.6
group by source_id, device_id, name
