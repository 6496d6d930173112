-- purpose = "Every value is a number, or unknown."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = []
select
    subject,
    report || '.' || column_name as first_figure,
    value as first_value,
    'a finite number' as second_figure,
    cast(null as double) as second_value
from cell
where not isfinite(value)
