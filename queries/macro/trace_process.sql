-- purpose = "Processes of a run in a trace: as in the file, or numbered anew if the run has several
-- timelines."
-- source = "docs/export.md, section Perfetto"
-- needs = ["source_file"]
-- depends = ["source_clock", "trace_process_name"]
-- is_kept = true
-- parameters = "wanted_run-one wanted_phase"
-- columns = "source_id process_id process_name pid_json sort_index title"
-- process_id = "BIGINT: process in the file; NULL if it has none"
-- process_name = "VARCHAR: trace_process_name of it; NULL if it has a number"
-- pid_json = "VARCHAR: process in the trace, as JSON; NULL if the file has none"
-- sort_index = "BIGINT: place in the trace, from 1: by rank, then as in the file"
-- title = "VARCHAR: rank, with the source if several have it, and name of the process; NULL if the
-- file is alone"
with
    seen as (
        select
            source_id,
            process_id,
            trace_process_name(process_id, thread_id, track_name, device_id) as process_name,
            bool_or(has_events) as has_events
        from
            (
                select distinct
                    run_id,
                    source_id,
                    process_id,
                    thread_id,
                    track_name,
                    device_id,
                    true as has_events
                from slice
                union
                select distinct
                    run_id, source_id, process_id, thread_id, track_name, device_id, true
                from kernel
                union
                select distinct
                    run_id, source_id, process_id, thread_id, track_name, device_id, true
                from transfer
                union
                select distinct
                    run_id, source_id, process_id, thread_id, track_name, device_id, true
                from memory_event
                union
                select distinct run_id, source_id, process_id, thread_id, track_name, null, true
                from flow
                union
                select distinct run_id, source_id, process_id, thread_id, track_name, null, true
                from counter
                union
                select distinct run_id, source_id, process_id, thread_id, track_name, null, false
                from track_label
            )
        where run_id = wanted_run
        group by all
    ),
    labels as (
        select
            source_id,
            process_id,
            any_value(value order by event_id) filter (where label_kind = 'process_name') as name,
            any_value(value order by event_id) filter (
                where label_kind = 'process_labels'
            ) as label,
            any_value(try_cast(value as bigint) order by event_id) filter (
                where label_kind = 'process_sort_index'
            ) as place
        from track_label
        where run_id = wanted_run
        group by source_id, process_id
    ),
    placed as (
        select
            seen.*,
            coalesce(labels.name || ' (' || nullif(labels.label, '') || ')', labels.name) as name,
            clocks.timeline_count,
            coalesce(
                'rank '
                || clocks.rank_index
                || case when clocks.is_doubled then ' of ' || source_id else '' end,
                'source ' || source_id
            ) as place_name,
            row_number() over (
                order by
                    clocks.source_index,
                    coalesce(labels.place, process_id) nulls last,
                    process_id,
                    process_name
            ) as sort_index
        from seen
        join
            (
                select *, count(*) over (partition by rank_index) > 1 as is_doubled
                from source_clock(wanted_run, wanted_phase)
            ) as clocks using (source_id)
        left join labels using (source_id, process_id)
        -- several ranks each name the devices of all of them
        where clocks.timeline_count = 1 or seen.has_events
    )
select
    source_id,
    process_id,
    process_name,
    case
        when timeline_count > 1
        then cast(sort_index as varchar)
        else
            case
                when process_id between 0 and 4294967295
                then cast(process_id as varchar)
                else
                    cast(
                        to_json(
                            coalesce(cast(process_id as varchar), nullif(process_name, 'host'))
                        ) as varchar
                    )
            end
    end as pid_json,
    sort_index,
    case
        when timeline_count > 1
        then place_name || ': ' || coalesce(name, process_name, 'process ' || process_id)
    end as title
from placed
