-- purpose = "An unknown flop_utilization_ratio of device_utilization has its reason."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["device_utilization"]
select
    coalesce(scope_name, device_name, '?') as subject,
    'device_utilization.flop_utilization_ratio' as first_figure,
    cast(null as double) as first_value,
    'its reason' as second_figure,
    cast(null as double) as second_value
from device_utilization
where flop_utilization_ratio is null and reason is null
