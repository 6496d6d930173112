-- purpose = "No share of a whole is above 1."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = []
select
    subject,
    report || '.' || column_name as first_figure,
    value as first_value,
    '1' as second_figure,
    1 as second_value
from cell
where
    regexp_full_match(
        column_name,
        '(\w+_)?(share|busy|known|matched|hidden|coverage|known_time|matched_time)_ratio'
    )
    and is_above(value, 1)
