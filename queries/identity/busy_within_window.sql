-- purpose = "No device is busy for longer than its window."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["gpu_utilization"]
select
    device_named(gpu_utilization.device_id, gpu_utilization.source_id) as subject,
    'gpu_utilization.busy_with_transfers_ns' as first_figure,
    busy_with_transfers_ns as first_value,
    'gpu_utilization.elapsed_ns' as second_figure,
    elapsed_ns as second_value
from gpu_utilization
where is_above(busy_with_transfers_ns, elapsed_ns)
