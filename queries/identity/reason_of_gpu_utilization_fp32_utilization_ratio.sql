-- purpose = "An unknown fp32_utilization_ratio of gpu_utilization has its reason."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["gpu_utilization"]
select
    'device '
    || coalesce(cast(gpu_utilization.device_id as varchar), '?')
    || ' of source '
    || gpu_utilization.source_id as subject,
    'gpu_utilization.fp32_utilization_ratio' as first_figure,
    cast(null as double) as first_value,
    'its reason' as second_figure,
    cast(null as double) as second_value
from gpu_utilization
where fp32_utilization_ratio is null and fp32_reason is null
