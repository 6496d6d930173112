-- purpose = "No rate or bandwidth is above its peak, but for 5% for the clocks."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = []
select
    subject,
    report || '.' || column_name as first_figure,
    value as first_value,
    '1.05' as second_figure,
    1.05 as second_value
from cell
where
    regexp_full_match(
        column_name, '(\w+_)?(utilization|peak)_ratio|(near_)?roof_ratio|bandwidth_ratio'
    )
    and value > 1.05
