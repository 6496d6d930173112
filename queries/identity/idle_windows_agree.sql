-- purpose = "Idle time and busy time of a device are of the same window."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["gaps", "gpu_utilization"]
select
    device_named(gaps.device_id, gaps.source_id) as subject,
    'gaps.elapsed_ns' as first_figure,
    gaps.elapsed_ns as first_value,
    'gpu_utilization.elapsed_ns' as second_figure,
    gpu_utilization.elapsed_ns as second_value
from gaps
join
    gpu_utilization
    on gaps.source_id = gpu_utilization.source_id
    and gaps.device_id is not distinct from gpu_utilization.device_id
where differs(gaps.elapsed_ns, gpu_utilization.elapsed_ns)
