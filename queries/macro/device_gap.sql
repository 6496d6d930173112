-- purpose = "Idle times of each device, what ended each, and when the launch of that work started."
-- source = "docs/metrics.md, section gaps and largest_gaps"
-- needs = ["attribution"]
-- depends = ["device_work", "work_place", "step_window"]
-- is_kept = true
-- is_long = true
-- parameters = "wanted_run wanted_phase"
-- columns = "run_id source_id-rank device_id gap_start_ns gap_end_ns host_end_ns call_ns
-- rest_kind reason-gap previous_event_id next_event_id launch_thread_id window_start_ns
-- elapsed_ns-steps"
-- host_end_ns = "BIGINT: start of the launch of the next work, until which the host was late;
-- gap_start_ns if earlier, gap_end_ns without work after it"
-- call_ns = "BIGINT: part of the gap during that launch call"
-- rest_kind = "VARCHAR: what the gap waited for after host_end_ns: launch, graph, communication,
-- copy, stream, queue or unknown"
with
    places as materialized(from work_place(wanted_run)),
    windows as materialized(
        select places.place_index, chosen.start_ns, chosen.end_ns
        from step_window(wanted_run, wanted_phase) as chosen
        join places on places.run_id = chosen.run_id and places.source_id = chosen.source_id
        where chosen.start_ns is not null
    ),
    work as materialized(
        select
            places.place_index,
            event_id,
            work_class,
            stream_id,
            start_ns,
            end_ns,
            launch_event_id,
            launch_thread_id,
            launch_start_ns,
            launch_end_ns,
            launch_reason
        from device_work as here
        join
            places
            on places.run_id = here.run_id
            and places.source_id = here.source_id
            and places.device_id is not distinct from here.device_id
        where wanted_run is null or here.run_id = wanted_run
    ),
    reached as (
        select
            place_index,
            start_ns,
            event_id,
            max(end_ns) over (
                partition by place_index
                order by start_ns, event_id
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from work
        union all
        -- the time after the last work
        select place_index, null, null, max(end_ns)
        from work
        group by place_index
    ),
    idle as materialized(
        select
            reached.place_index,
            reached.event_id,
            reached.reach_ns,
            greatest(
                coalesce(reached.reach_ns, windows.start_ns), windows.start_ns
            ) as gap_start_ns,
            least(coalesce(reached.start_ns, windows.end_ns), windows.end_ns) as gap_end_ns,
            windows.start_ns as window_start_ns,
            windows.end_ns - windows.start_ns as elapsed_ns
        from reached
        join windows on windows.place_index = reached.place_index
        where gap_end_ns > gap_start_ns
    ),
    -- of several that end together it is the last of the file
    ended as (
        select
            place_index,
            end_ns,
            max(event_id) as event_id,
            arg_max(work_class, event_id) as work_class,
            arg_max_null(stream_id, event_id) as stream_id,
            arg_max_null(launch_event_id, event_id) as launch_event_id,
            arg_max_null(launch_thread_id, event_id) as launch_thread_id
        from work
        group by place_index, end_ns
    ),
    told as (
        select
            idle.*,
            -- after the last work, the thread that launched it has no more to launch
            case
                when idle.event_id is null then ended.launch_thread_id else work.launch_thread_id
            end as launch_thread_id,
            ended.event_id as previous_event_id,
            coalesce(work.launch_end_ns, work.launch_start_ns) as returned_ns,
            case
                when idle.event_id is null
                then case when ended.launch_thread_id is null then 'no work after it' end
                when work.launch_start_ns is null
                then coalesce(work.launch_reason, 'launch not in the file')
                when work.launch_start_ns > work.start_ns
                then 'work begins before its launch: the clocks disagree'
                when work.launch_start_ns < idle.gap_start_ns and idle.reach_ns is null
                then 'no work before it'
            end as reason,
            case
                when reason is not null
                then 'unknown'
                when idle.event_id is null or idle.reach_ns is null or returned_ns >= idle.reach_ns
                then 'launch'
                when ended.launch_event_id = work.launch_event_id
                then 'graph'
                when ended.work_class = 'communication'
                then 'communication'
                when ended.work_class <> 'compute'
                then 'copy'
                when ended.stream_id is distinct from work.stream_id
                then 'stream'
                else 'queue'
            end as rest_kind,
            -- until then the host had not begun to launch
            case
                when rest_kind = 'launch'
                then
                    greatest(
                        least(coalesce(work.launch_start_ns, idle.gap_end_ns), idle.gap_end_ns),
                        idle.gap_start_ns
                    )
                else idle.gap_start_ns
            end as host_end_ns
        from idle
        left join work on work.place_index = idle.place_index and work.event_id = idle.event_id
        left join ended on ended.place_index = idle.place_index and ended.end_ns = idle.reach_ns
    )
select
    places.run_id,
    places.source_id,
    places.device_id,
    gap_start_ns,
    gap_end_ns,
    host_end_ns,
    case
        when rest_kind = 'launch'
        then greatest(least(returned_ns, gap_end_ns) - host_end_ns, 0)
        else 0
    end as call_ns,
    rest_kind,
    reason,
    previous_event_id,
    event_id as next_event_id,
    launch_thread_id,
    window_start_ns,
    elapsed_ns
from told
join places on places.place_index = told.place_index
