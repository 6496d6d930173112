-- purpose = "The mean of a kernel lies between its shortest and its longest launch."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["kernel_time"]
select
    name as subject,
    'kernel_time.min_ns' as first_figure,
    min_ns as first_value,
    'kernel_time.max_ns' as second_figure,
    max_ns as second_value
from kernel_time
where is_above(min_ns, max_ns) or min_ns < 0
