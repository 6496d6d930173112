-- purpose = "No bandwidth in device_utilization is above its peak (5 % for clocks)."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["device_utilization"]
select
    coalesce(scope_name, device_name, '?') as subject,
    'device_utilization.bandwidth_utilization_ratio' as first_figure,
    bandwidth_utilization_ratio as first_value,
    '1.05' as second_figure,
    1.05 as second_value
from device_utilization
where bandwidth_utilization_ratio > 1.05
