-- purpose = "A device computes where a kernel that does not communicate runs."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "gpu_utilization"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "covered_time"
-- is_partial = true
select
    source_id,
    device_id,
    sum(more_compute_ns) as compute_ns,
    sum(more_compute_ns) / any_value(elapsed_ns) as compute_ratio
from covered_time
group by source_id, device_id
having bool_or(is_kernel)
