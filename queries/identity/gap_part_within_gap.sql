-- purpose = "The part of a gap with one cause is at most the gap."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["largest_gaps"]
select
    coalesce(next_name, '?') as subject,
    'largest_gaps.kind_ns' as first_figure,
    kind_ns as first_value,
    'largest_gaps.gap_ns' as second_figure,
    gap_ns as second_value
from largest_gaps
where is_above(kind_ns, gap_ns)
