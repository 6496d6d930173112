-- purpose = "Names and order of processes and threads of a run, as events of a Chrome trace."
-- source = "Trace Event Format, as kineto writes it; docs/export.md, section Perfetto"
-- needs = ["source_file"]
-- depends = ["trace_lane", "trace_member", "trace_process", "trace_process_name", "trace_source",
-- "trace_thread", "trace_timed", "trace_us"]
-- parameters = "run_id phase"
-- columns = "event_json"
with
    lanes as (
        select distinct source_id, process_id, thread_id, track_name, lane_index
        from trace_lane($run_id)
    ),
    -- the time of a name: Perfetto calls a thread by a number that is text until it is told later
    lasts as (
        select source_id, max(time_ns) as last_time_ns
        from
            (
                select source_id, start_ns as time_ns
                from trace_timed($run_id)
                union all
                select source_id, time_ns
                from memory_event
                where run_id = $run_id
            )
        group by source_id
    ),
    sources as (
        select
            source_id,
            timeline_count,
            trace_member('ts', trace_us(last_time_ns + shift_ns)) as ts_member
        from trace_source($run_id, $phase) as source
        left join lasts using (source_id)
    ),
    labels as (
        select label.*, lane_index
        from track_label as label
        join
            lanes
            on lanes.source_id = label.source_id
            and lanes.process_id is not distinct from label.process_id
            and lanes.thread_id is not distinct from label.thread_id
            and (
                lanes.track_name is not distinct from label.track_name
                or lanes.process_id + lanes.thread_id is not null
            )
        where label_kind = 'thread_name'
        union all
        select *, null
        from track_label
    ),
    -- threads that have a number, and are named by the track
    tracks as (
        select distinct source_id, thread_id, track_name
        from trace_timed($run_id)
        where process_id is null and thread_id is not null and track_name is not null
    ),
    named as (
        select tracks.*, lane_index
        from tracks
        join lanes using (source_id, thread_id, track_name)
        where process_id is null
        union all
        select *, null
        from tracks
    )
select event_json
from
    (
        select
            concat(
                '{"ph":"M","name":',
                to_json(label_kind),
                trace_member('pid', process.pid_json),
                trace_member(
                    'tid',
                    case
                        when starts_with(label_kind, 'process_') and thread_id is not null
                        then cast(thread_id as varchar)
                        else
                            trace_thread(
                                label.process_id,
                                label.thread_id,
                                label.track_name,
                                null,
                                lane_index
                            )
                    end
                ),
                case when ends_with(label_kind, '_name') then ts_member end,
                ',"args":{"',
                case
                    when label_kind in ('process_sort_index', 'thread_sort_index')
                    then 'sort_index":' || coalesce(cast(try_cast(value as bigint) as varchar), '0')
                    when label_kind = 'process_labels'
                    then 'labels":' || to_json(value)
                    else
                        'name":' || coalesce(
                            cast(
                                to_json(value || coalesce(', lane ' || lane_index, '')) as varchar
                            ),
                            'null'
                        )
                end,
                '}}'
            ) as event_json,
            case
                when starts_with(label_kind, 'process_')
                then 2
                when lane_index is null
                then 1
                else 0
            end as place
        from labels as label
        join sources as source using (source_id)
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
            and (
                source.timeline_count = 1
                or label_kind not in ('process_name', 'process_sort_index')
            )
        union all
        select
            unnest(
                [
                    concat(
                        '{"ph":"M","name":"process_name","pid":',
                        pid_json,
                        ',"tid":0',
                        ts_member,
                        ',"args":{"name":',
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
            ),
            2
        from trace_process($run_id, $phase)
        join sources using (source_id)
        where title is not null
        union all
        select
            concat(
                '{"ph":"M","name":"thread_name"',
                trace_member('pid', process.pid_json),
                trace_member('tid', trace_thread(null, thread_id, track_name, null, lane_index)),
                ts_member,
                ',"args":{"name":',
                to_json(
                    coalesce(nullif(substr(track_name, instr(track_name, ' ') + 1), ''), track_name)
                    || coalesce(', lane ' || lane_index, '')
                ),
                '}}'
            ),
            case when lane_index is null then 1 else 0 end
        from named
        join sources as source using (source_id)
        join
            trace_process($run_id, $phase) as process
            on process.source_id = named.source_id
            and process.process_id is null
            and process.process_name = trace_process_name(null, thread_id, track_name, null)
    )
-- of several names the last holds: the lanes of a thread come before it, processes are last
order by place
