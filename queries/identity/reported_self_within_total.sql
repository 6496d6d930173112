-- purpose = "An operator without those inside takes at most its time."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["reported_op_breakdown"]
select
    name as subject,
    'reported_op_breakdown.self_ns' as first_figure,
    self_ns as first_value,
    'reported_op_breakdown.total_ns' as second_figure,
    total_ns as second_value
from reported_op_breakdown
where is_above(self_ns, total_ns)
