-- purpose = "Events of a run that overlap others of their thread halfway, with their lanes: a
-- viewer draws one only in a thread of its own."
-- source = "docs/export.md, section Perfetto"
-- is_kept = true
-- depends = ["trace_timed"]
-- parameters = "wanted_run-one"
-- columns = "source_id event_id-timed process_id-timed thread_id-timed track_name-timed start_ns
-- lane_index"
-- lane_index = "BIGINT: from 2; events of lane 1 are not listed"
with
    tracks as (
        select
            source_id,
            process_id,
            thread_id,
            track_name,
            case when process_id is null and track_name is null then device_id end as device_id,
            case when thread_id is null and track_name is null then stream_id end as stream_id,
            overlap_lanes(list(event_id), list(start_ns), list(dur_ns)) as moved
        from trace_timed(wanted_run)
        where category_name is distinct from 'tracekit' and start_ns is not null and dur_ns > 0
        group by all
    )
select
    source_id, moved.event_id, process_id, thread_id, track_name, moved.start_ns, moved.lane_index
from (select * replace (unnest(moved) as moved) from tracks)
