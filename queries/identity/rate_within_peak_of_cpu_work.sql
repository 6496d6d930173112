-- purpose = "No rate in cpu_work is above its peak (5 % for clocks)."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["cpu_work"]
select
    coalesce(name, '?') as subject,
    'cpu_work.utilization_ratio' as first_figure,
    utilization_ratio as first_value,
    '1.05' as second_figure,
    1.05 as second_value
from cpu_work
where utilization_ratio > 1.05
