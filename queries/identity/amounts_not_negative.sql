-- purpose = "No time, count or amount is negative, but for differences."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = []
select
    subject,
    report || '.' || column_name as first_figure,
    value as first_value,
    '0' as second_figure,
    0 as second_value
from cell
where
    regexp_full_match(column_name, '\w+_(ns|count|bytes|flop)')
    and not regexp_matches(column_name, 'added|change|delta|end_ns|more_|offset|start')
    and value < 0
