-- purpose = "Tracks of ours as events of a Chrome trace: idle time of each device by cause, its
-- work by class, and the steps."
-- source = "Trace Event Format, as kineto writes it; docs/export.md, section Perfetto"
-- needs = ["attribution"]
-- depends = ["chosen_step", "gap_part", "step_span", "trace_member", "trace_process",
-- "trace_process_name", "trace_source", "trace_us", "work_in_window"]
-- parameters = "run_id phase"
-- columns = "event_json"
with
    -- numbers that no stream has, in the order of the tracks
    tracks(track_kind, tid, title) as (
        values
            ('steps', 2000000001, 'Steps'),
            ('idle', 2000000002, 'Idle, by cause'),
            ('work', 2000000003, 'Work, by class')
    ),
    places as materialized(
        select
            work.source_id,
            work.device_id,
            arg_min(process.pid_json, process.sort_index) as pid_json,
            any_value(source.shift_ns) as shift_ns
        from
            (
                select distinct source_id, device_id, process_id, thread_id, track_name
                from kernel
                where run_id = $run_id
                union
                select distinct source_id, device_id, process_id, thread_id, track_name
                from transfer
                where run_id = $run_id
            ) as work
        join trace_source($run_id, $phase) as source using (source_id)
        join
            trace_process($run_id, $phase) as process
            on process.source_id = work.source_id
            and process.process_id is not distinct from work.process_id
            and process.process_name is not distinct from trace_process_name(
                work.process_id, work.thread_id, work.track_name, work.device_id
            )
        group by work.source_id, work.device_id
    ),
    idle as (
        select
            source_id,
            device_id,
            'idle' as track_kind,
            gap_kind as name,
            part_start_ns as start_ns,
            part_ns as dur_ns
        from gap_part($run_id, $phase)
    ),
    -- +1 where work of a class starts, -1 where it ends: which classes run until the next edge
    edges as (
        select source_id, device_id, work_class, start_ns as time_ns, 1 as change
        from work_in_window($run_id, $phase)
        where end_ns > start_ns
        union all
        select source_id, device_id, work_class, end_ns, -1
        from work_in_window($run_id, $phase)
        where end_ns > start_ns
    ),
    times as (
        select
            source_id,
            device_id,
            time_ns,
            sum(change) filter (where work_class = 'compute') as compute,
            sum(change) filter (where work_class = 'communication') as communication,
            sum(change) filter (where work_class = 'memcpy') as memcpy,
            sum(change) filter (where work_class = 'memset') as memset
        from edges
        group by source_id, device_id, time_ns
    ),
    running as (
        select
            source_id,
            device_id,
            time_ns,
            lead(time_ns) over ordered as next_ns,
            concat_ws(
                ' + ',
                case when sum(compute) over ordered > 0 then 'compute' end,
                case when sum(communication) over ordered > 0 then 'communication' end,
                case when sum(memcpy) over ordered > 0 then 'memcpy' end,
                case when sum(memset) over ordered > 0 then 'memset' end
            ) as name
        from times
        window ordered as (partition by source_id, device_id order by time_ns)
    ),
    changes as (
        select *
        from
            (
                select
                    *,
                    name is distinct from lag(name) over (
                        partition by source_id, device_id order by time_ns
                    ) as is_new
                from running
            )
        where is_new
    ),
    work as (
        select
            source_id,
            device_id,
            'work' as track_kind,
            name,
            time_ns as start_ns,
            lead(time_ns) over (partition by source_id, device_id order by time_ns)
            - time_ns as dur_ns
        from changes
    ),
    steps as (
        select
            places.source_id,
            places.device_id,
            'steps' as track_kind,
            'step ' || spans.step_index as name,
            spans.start_ns,
            spans.elapsed_ns as dur_ns
        from step_span($run_id) as spans
        join places using (source_id)
        left join chosen_step($run_id, $phase) as chosen using (source_id)
        where
            $phase = 'all'
            or spans.step_index between chosen.first_step_index and chosen.last_step_index
    ),
    pieces as (
        from idle
        union all
        from work
        where name <> ''
        union all
        from steps
    ),
    -- a process can have several devices
    places_of as (
        select *, row_number() over (partition by pid_json order by source_id, device_id) - 1 as nth
        from places
    )
select
    concat(
        '{"ph":"X","cat":"tracekit"',
        trace_member(
            'name',
            to_json(case when track_kind = 'idle' then 'idle: ' || pieces.name else pieces.name end)
        ),
        ',"pid":',
        pid_json,
        ',"tid":',
        tid + 3 * nth,
        ',"ts":',
        trace_us(cast(start_ns as bigint) + shift_ns),
        ',"dur":',
        trace_us(cast(dur_ns as bigint)),
        '}'
    ) as event_json
from pieces
join tracks using (track_kind)
join
    places_of
    on places_of.source_id = pieces.source_id
    and places_of.device_id is not distinct from pieces.device_id
where start_ns is not null and dur_ns is not null
union all
select
    unnest(
        [
            concat(
                '{"ph":"M","name":"thread_name","pid":',
                pid_json,
                ',"tid":',
                tid + 3 * nth,
                ',"args":{"name":',
                to_json(title),
                '}}'
            ),
            concat(
                '{"ph":"M","name":"thread_sort_index","pid":',
                pid_json,
                ',"tid":',
                tid + 3 * nth,
                ',"args":{"sort_index":',
                tid - 2000001000,
                '}}'
            )
        ]
    )
from places_of
cross join tracks
semi join
    pieces
    on pieces.source_id = places_of.source_id
    and pieces.device_id is not distinct from places_of.device_id
    and pieces.track_kind = tracks.track_kind
