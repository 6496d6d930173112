-- purpose = "No track is busy for longer than its window."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["busy_by_track"]
select
    track_kind || ' of source ' || source_id as subject,
    'busy_by_track.busy_ns' as first_figure,
    busy_ns as first_value,
    'busy_by_track.elapsed_ns' as second_figure,
    elapsed_ns as second_value
from busy_by_track
where is_above(busy_ns, elapsed_ns)
