-- purpose = "At most all of the kernel time is attributed."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["attribution_coverage"]
select
    link_kind || ' of source ' || source_id as subject,
    'attribution_coverage.known_ns' as first_figure,
    known_ns as first_value,
    'attribution_coverage.total_ns' as second_figure,
    total_ns as second_value
from attribution_coverage
where is_above(known_ns, total_ns)
