-- purpose = "No rate in gpu_utilization is above its peak (5 % for clocks)."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["gpu_utilization"]
select
    'device '
    || coalesce(cast(gpu_utilization.device_id as varchar), '?')
    || ' of source '
    || gpu_utilization.source_id as subject,
    'gpu_utilization.fp32_utilization_ratio' as first_figure,
    fp32_utilization_ratio as first_value,
    '1.05' as second_figure,
    1.05 as second_value
from gpu_utilization
where fp32_utilization_ratio > 1.05
