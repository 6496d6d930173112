-- purpose = "Time with kernels, copies or memsets is the window without idle time."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["gpu_utilization", "overlap"]
select
    device_named(gpu_utilization.device_id, gpu_utilization.source_id) as subject,
    'gpu_utilization.busy_with_transfers_ns' as first_figure,
    busy_with_transfers_ns as first_value,
    'overlap.elapsed_ns less idle' as second_figure,
    other.elapsed_ns - other.exposed_ns as second_value
from gpu_utilization
join
    overlap as other
    on other.source_id = gpu_utilization.source_id
    and other.device_id is not distinct from gpu_utilization.device_id
where
    other.work_class = 'idle'
    and differs(busy_with_transfers_ns, other.elapsed_ns - other.exposed_ns)
