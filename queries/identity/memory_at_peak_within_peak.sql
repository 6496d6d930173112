-- purpose = "A kind of memory holds at most its own peak at the peak of all."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["memory_by_kind"]
select
    kind || ' of source ' || source_id as subject,
    'memory_by_kind.at_peak_bytes' as first_figure,
    at_peak_bytes as first_value,
    'memory_by_kind.peak_bytes' as second_figure,
    peak_bytes as second_value
from memory_by_kind
where is_above(at_peak_bytes, peak_bytes)
