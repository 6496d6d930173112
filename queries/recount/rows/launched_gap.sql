-- purpose = "Idle times of devices of sources without unrecorded launches, with the launch of what
-- ended each; only where names say plainly which kernels are communication."
-- upon = "source_window"
with
    -- names that may or may not be communication or concurrent copies
    unclear as (
        select source_id
        from kernel
        where
            run_id = $run_id
            and not regexp_matches(name, '^(void )?nccl')
            and (
                coalesce(collective_name, category_name) is not null
                or regexp_matches(
                    name,
                    '(?i)ccl|all[-_]?(reduce|gather|to)|reduce[-_]?scatter|collective|notify_'
                    || '|ep(dispatch|combine)|node::|shmem|psum|ppermute|send|recv|cross_device'
                    || '|userbuffers|hcom|a2a|-(start|update|done)'
                )
            )
    ),
    work as (
        select
            *, row_number() over (order by source_id, device_id, start_ns, event_id) as work_index
        from uncut_work
    ),
    edges as (
        from work
        union all by name
        select source_id, device_id, window_end_ns as start_ns, any_value(rank_index) as rank_index
        from work
        join source_window using (source_id)
        group by all
    ),
    reached as (
        select
            *,
            max(end_ns) over before as reach_ns,
            -- of several that end together, the last of the file
            arg_max(
                {
                    'kind':work_kind,
                    'name':name,
                    'stream_id':stream_id,
                    'launch_event_id':launch_event_id,
                    'launch_thread_id':launch_thread_id
                },
                (end_ns, event_id)
            ) over before as previous
        from edges
        window
            before as (
                partition by source_id, device_id
                order by start_ns, event_id nulls last
                rows between unbounded preceding and 1 preceding
            )
    )
select
    row_number() over () as gap_index,
    source_id,
    device_id,
    event_id as next_event_id,
    coalesce(op_name, name) as next_name,
    end_ns - start_ns as next_ns,
    elapsed_ns,
    previous.name as previous_name,
    rank_index,
    window_start_ns,
    coalesce(reach_ns, window_start_ns) as gap_start_ns,
    start_ns as gap_end_ns,
    if(event_id is null, previous.launch_thread_id, launch_thread_id) as thread_id,
    case
        when event_id is null
        then if(thread_id is null, 'no work after it', null)
        when launch_start_ns is null
        then coalesce(launch_reason, 'launch not in the file')
        when launch_start_ns > start_ns
        then 'work begins before its launch: the clocks disagree'
        when reach_ns is null and launch_start_ns < gap_start_ns
        then 'no work before it'
    end as reason,
    case
        when reason is not null
        then 'unknown'
        when event_id is null or launch_start_ns >= gap_start_ns or launch_end_ns >= gap_start_ns
        then 'launch'
        when launch_event_id = previous.launch_event_id
        then 'graph'
        when regexp_matches(previous.name, '^(void )?nccl')
        then 'communication'
        when previous.kind <> 'kernel'
        then 'copy'
        when stream_id is distinct from previous.stream_id
        then 'stream'
        else 'queue'
    end as rest_kind,
    case
        when rest_kind = 'launch'
        then greatest(coalesce(launch_start_ns, gap_end_ns), gap_start_ns)
        else gap_start_ns
    end as host_end_ns,
    case
        when rest_kind = 'launch'
        then greatest(least(launch_end_ns, gap_end_ns) - host_end_ns, 0)
        else 0
    end as call_ns
from reached
join source_window using (source_id)
where
    start_ns > coalesce(reach_ns, window_start_ns)
    and source_id not in (select source_id from unclear)
    and source_id not in (select source_id from unrecorded_launch where run_id = $run_id)
