-- purpose = "No device is busy for longer than its profile."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["device_utilization"]
select
    coalesce(scope_name, device_name, '?') as subject,
    'device_utilization.busy_ns' as first_figure,
    busy_ns as first_value,
    'device_utilization.window_ns x devices' as second_figure,
    window_ns * coalesce(device_count, 1) as second_value
from device_utilization
where is_above(busy_ns, window_ns * coalesce(device_count, 1))
