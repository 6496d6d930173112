-- purpose = "Kernels take at most the time of their track, which has waits for copies, too."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["busy_by_track", "gpu_utilization"]
select
    device_named(gpu_utilization.device_id, gpu_utilization.source_id) as subject,
    'gpu_utilization.busy_ns' as first_figure,
    gpu_utilization.busy_ns as first_value,
    'busy_by_track.busy_ns of kernels' as second_figure,
    other.busy_ns as second_value
from gpu_utilization
join
    busy_by_track as other
    on other.source_id = gpu_utilization.source_id
    and other.device_id is not distinct from gpu_utilization.device_id
where other.track_kind = 'kernels' and is_above(gpu_utilization.busy_ns, other.busy_ns)
