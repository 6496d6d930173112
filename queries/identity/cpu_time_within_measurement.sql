-- purpose = "Processors are active for at most their time."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["cpu_utilization"]
select
    coalesce(name, '?') as subject,
    'cpu_utilization.utilization_ratio' as first_figure,
    utilization_ratio as first_value,
    '1.05' as second_figure,
    1.05 as second_value
from cpu_utilization
where utilization_ratio > 1.05
