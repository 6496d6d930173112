-- purpose = "Pieces of a timeline have the work of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "timeline"
-- keys = ["source_id", "device_id", "stream_id", "track_kind"]
-- needs = ["attribution"]
-- upon = "uncut_work"
-- is_sum = true
-- is_partial = true
select source_id, device_id, stream_id, 'stream' as track_kind, dur_ns as sum_ns, 1 as work_count
from uncut_work
-- more tracks than are drawn are left out
qualify
    count(distinct stream_id) over (partition by source_id, device_id) < 9
    and count(distinct(source_id, device_id, stream_id)) over () <= 24
