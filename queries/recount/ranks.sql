-- purpose = "Kernels of a rank are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "ranks"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "uncut_work"
-- is_partial = true
select source_id, device_id, count(*) as kernel_count
from uncut_work
where is_kernel
group by source_id, device_id
