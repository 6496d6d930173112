-- purpose = "No rate in reported_op_breakdown is above its peak (5 % for clocks)."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["reported_op_breakdown"]
select
    name as subject,
    'reported_op_breakdown.utilization_ratio' as first_figure,
    utilization_ratio as first_value,
    '1.05' as second_figure,
    1.05 as second_value
from reported_op_breakdown
where utilization_ratio > 1.05
