-- purpose = "Names and order of processes and threads of a run, as events of a Chrome trace."
-- source = "Trace Event Format, as kineto writes it; docs/export.md, section Perfetto"
-- needs = ["source_file"]
-- depends = ["trace_member", "trace_process", "trace_process_name", "trace_source", "trace_thread"]
-- parameters = "run_id phase"
-- columns = "event_json"
select
    concat(
        '{"ph":"M","name":',
        to_json(label_kind),
        trace_member('pid', process.pid_json),
        trace_member(
            'tid', trace_thread(label.process_id, label.thread_id, label.track_name, null)
        ),
        ',"args":{"',
        case
            when label_kind in ('process_sort_index', 'thread_sort_index')
            then 'sort_index":' || coalesce(cast(try_cast(value as bigint) as varchar), '0')
            when label_kind = 'process_labels'
            then 'labels":' || to_json(value)
            else 'name":' || coalesce(cast(to_json(value) as varchar), 'null')
        end,
        '}}'
    ) as event_json
from track_label as label
join trace_source($run_id, $phase) as source using (source_id)
join
    trace_process($run_id, $phase) as process
    on process.source_id = label.source_id
    and process.process_id is not distinct from label.process_id
    and process.process_name is not distinct from trace_process_name(
        label.process_id, label.thread_id, label.track_name, null
    )
where
    label.run_id = $run_id
    and label_kind is not null
    and (source.timeline_count = 1 or label_kind not in ('process_name', 'process_sort_index'))
union all
select
    unnest(
        [
            concat(
                '{"ph":"M","name":"process_name","pid":',
                pid_json,
                ',"tid":0,"args":{"name":',
                to_json(title),
                '}}'
            ),
            concat(
                '{"ph":"M","name":"process_sort_index","pid":',
                pid_json,
                ',"tid":0,"args":{"sort_index":',
                sort_index,
                '}}'
            )
        ]
    )
from trace_process($run_id, $phase)
join trace_source($run_id, $phase) using (source_id)
where title is not null
union all
-- threads that have a number, and are named by the track
select
    concat(
        '{"ph":"M","name":"thread_name"',
        trace_member('pid', process.pid_json),
        ',"tid":',
        thread_id,
        ',"args":{"name":',
        to_json(coalesce(nullif(substr(track_name, instr(track_name, ' ') + 1), ''), track_name)),
        '}}'
    )
from
    (
        select distinct source_id, thread_id, track_name
        from slice
        where
            run_id = $run_id
            and process_id is null
            and thread_id is not null
            and track_name is not null
        union
        select distinct source_id, thread_id, track_name
        from kernel
        where
            run_id = $run_id
            and process_id is null
            and thread_id is not null
            and track_name is not null
        union
        select distinct source_id, thread_id, track_name
        from transfer
        where
            run_id = $run_id
            and process_id is null
            and thread_id is not null
            and track_name is not null
    ) as track
join trace_source($run_id, $phase) as source using (source_id)
join
    trace_process($run_id, $phase) as process
    on process.source_id = track.source_id
    and process.process_id is null
    and process.process_name = trace_process_name(null, thread_id, track_name, null)
