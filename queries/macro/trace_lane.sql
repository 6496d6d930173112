-- purpose = "Events of a run that overlap others of their thread halfway, with their lanes: a
-- viewer draws one only in a thread of its own."
-- source = "docs/export.md, section Perfetto"
-- is_kept = true
-- parameters = "wanted_run"
-- columns = "source_id event_id process_id thread_id track_name start_ns lane_index"
-- event_id = "BIGINT: of a slice, kernel or transfer"
-- process_id = "BIGINT: as in the table of the event"
-- thread_id = "BIGINT: as in the table of the event"
-- track_name = "VARCHAR: as in the table of the event"
-- lane_index = "BIGINT: from 2; events of lane 1 are not listed"
with
    timed as (
        select
            source_id,
            event_id,
            process_id,
            thread_id,
            track_name,
            device_id,
            stream_id,
            start_ns,
            dur_ns,
            run_id
        from slice
        where category_name is distinct from 'tracekit'
        union all
        select
            source_id,
            event_id,
            process_id,
            thread_id,
            track_name,
            device_id,
            stream_id,
            start_ns,
            dur_ns,
            run_id
        from kernel
        union all
        select
            source_id,
            event_id,
            process_id,
            thread_id,
            track_name,
            device_id,
            stream_id,
            start_ns,
            dur_ns,
            run_id
        from transfer
    ),
    tracks as (
        select
            source_id,
            process_id,
            thread_id,
            track_name,
            case when process_id is null and track_name is null then device_id end as device_id,
            case when thread_id is null and track_name is null then stream_id end as stream_id,
            overlap_lanes(list(event_id), list(start_ns), list(dur_ns)) as moved
        from timed
        where run_id = wanted_run and start_ns is not null and dur_ns > 0
        group by all
    )
select
    source_id, moved.event_id, process_id, thread_id, track_name, moved.start_ns, moved.lane_index
from (select * replace (unnest(moved) as moved) from tracks)
