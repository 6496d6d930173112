-- purpose = "A kernel takes at most its longest launch times its launches."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["kernel_time"]
select
    name as subject,
    'kernel_time.max_ns' as first_figure,
    max_ns as first_value,
    'kernel_time.total_ns' as second_figure,
    total_ns as second_value
from kernel_time
where is_above(max_ns, total_ns)
