-- purpose = "No gap is longer than the idle time of its device."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["largest_gaps", "overlap"]
select
    device_named(overlap.device_id, overlap.source_id) as subject,
    'largest_gaps.gap_ns' as first_figure,
    gap_ns as first_value,
    'overlap.exposed_ns of idle' as second_figure,
    exposed_ns as second_value
from largest_gaps
join
    overlap
    on overlap.source_id = largest_gaps.source_id
    and overlap.device_id is not distinct from largest_gaps.device_id
where work_class = 'idle' and is_above(gap_ns, exposed_ns)
