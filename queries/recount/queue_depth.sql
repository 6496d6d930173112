-- purpose = "Kernels that start in all intervals are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "queue_depth"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "uncut_work"
-- is_sum = true
-- is_partial = true
select source_id, device_id, 1 as launch_count
from uncut_work
where work_kind = 'kernel'
-- a window without length has no intervals
window source as (partition by source_id)
qualify max(end_ns) over source > min(start_ns) over source
