-- purpose = "No rate in ops is above its peak (5 % for clocks)."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["ops"]
select
    name as subject,
    'ops.utilization_ratio' as first_figure,
    utilization_ratio as first_value,
    '1.05' as second_figure,
    1.05 as second_value
from ops
where utilization_ratio > 1.05
