-- purpose = "A run compared with itself shows no change."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["comparison"]
select
    name as subject,
    'comparison.a_ns' as first_figure,
    a_ns as first_value,
    'comparison.b_ns' as second_figure,
    b_ns as second_value
from comparison
where differs(a_ns, b_ns)
