-- purpose = "The union of kernels is at most the sum of their durations."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["gpu_utilization"]
select
    device_named(gpu_utilization.device_id, gpu_utilization.source_id) as subject,
    'gpu_utilization.busy_ns' as first_figure,
    busy_ns as first_value,
    'gpu_utilization.sum_ns' as second_figure,
    sum_ns as second_value
from gpu_utilization
where is_above(busy_ns, sum_ns)
