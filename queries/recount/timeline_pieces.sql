-- purpose = "Pieces of tracks with little work are the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "timeline"
-- keys = ["source_id", "device_id", "stream_id", "start_ns", "piece_ns", "name"]
-- needs = ["attribution"]
-- upon = "plain_window"
-- is_partial = true
with
    track as (
        select
            source_id,
            device_id,
            stream_id,
            count(*) as work_count,
            count(*) over (partition by source_id, device_id) as track_count
        from plain_window
        group by source_id, device_id, stream_id
    )
select
    here.source_id,
    here.device_id,
    here.stream_id,
    start_ns,
    dur_ns as piece_ns,
    name,
    start_ns - from_ns as offset_ns,
    elapsed_ns,
    dur_ns as sum_ns,
    1 as work_count
from plain_window as here
join
    track
    on track.source_id = here.source_id
    and track.device_id is not distinct from here.device_id
    and track.stream_id is not distinct from here.stream_id
where
    -- eight streams and the idle time of each device are drawn, 48 tracks of 500 pieces in all
    track_count <= 8 and track.work_count <= 500 and (select count(*) from track) <= 40
-- the same twice is no key
qualify
    count(*) over (
        partition by here.source_id, here.device_id, here.stream_id, start_ns, dur_ns, name
    )
    = 1
