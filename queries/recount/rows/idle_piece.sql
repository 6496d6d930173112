-- purpose = "Pieces of idle times by what they waited for: loading, compiling, the host, the launch
-- or other work, on devices with a tenth of the work of the busiest, if any."
-- upon = "plain_gap"
with
    gaps as (
        select
            row_number() over () as gap_index,
            plain_gap.*,
            case
                when reason is null and launch_start_ns >= gap_start_ns
                then launch_start_ns
                when reason is not null or launch_end_ns < gap_start_ns
                then null
                else gap_start_ns
            end as host_end_ns,
            greatest(least(launch_end_ns, gap_end_ns) - host_end_ns, 0) as call_ns
        from plain_gap
    ),
    busy as (
        select source_id, device_id, count(*) as work_count
        from attribution
        where run_id = $run_id
        group by source_id, device_id
        qualify 10 * work_count >= max(work_count) over ()
    ),
    -- the host's calls that explain it; waiting calls begin before
    causes as (
        select
            source_id,
            thread_id,
            start_ns,
            start_ns + dur_ns as end_ns,
            case
                when
                    regexp_matches(
                        name, '\(dynamo_timed\)|backend_compile|Client::Compile|opCompile'
                    )
                    or regexp_matches(name, '^(cuModule|cuLibrary|hipModule)Load')
                then 'compile'
                when slice_kind in ('runtime', 'driver')
                then 'wait'
                else 'data_loading'
            end as cause
        from slice
        where
            run_id = $run_id
            and dur_ns > 0
            and slice_kind in ('annotation', 'op', 'runtime', 'driver')
            and (
                cause <> 'wait'
                and (
                    cause = 'compile'
                    or regexp_matches(name, '^enumerate\(Data|data_load|wait_for_batch')
                )
                or cause = 'wait'
                and regexp_matches(name, 'ynchronize|emcpy')
            )
    ),
    nested as (
        select source_id
        from causes
        where cause <> 'wait'
        window one as (partition by source_id, thread_id order by start_ns, end_ns)
        qualify start_ns < max(end_ns) over (one rows between unbounded preceding and 1 preceding)
    ),
    spent as (
        select
            gap_index,
            sum(least(host_end_ns, end_ns) - greatest(gap_start_ns, start_ns)) filter (
                where cause = 'data_loading' and start_ns < host_end_ns and end_ns > gap_start_ns
            ) as loading_ns,
            sum(least(host_end_ns, end_ns) - greatest(gap_start_ns, start_ns)) filter (
                where cause = 'compile' and start_ns < host_end_ns and end_ns > gap_start_ns
            ) as compile_ns,
            max(end_ns) filter (where cause = 'wait' and start_ns <= gap_start_ns)
            > any_value(gap_start_ns) as is_waiting
        from gaps
        join
            causes
            on causes.source_id = gaps.source_id
            and causes.thread_id = launch_thread_id
            and start_ns < host_end_ns
        where host_end_ns > gap_start_ns
        group by gap_index
    ),
    told as (
        select
            gaps.*,
            coalesce(spent.loading_ns, 0) as loading_ns,
            coalesce(spent.compile_ns, 0) as compile_ns,
            host_end_ns
            - gap_start_ns
            - coalesce(spent.loading_ns, 0)
            - coalesce(spent.compile_ns, 0) as host_ns,
            coalesce(spent.is_waiting, false) as is_waiting,
            gap_end_ns - host_end_ns - call_ns as delay_ns
        from gaps
        left join spent using (gap_index)
        where
            source_id not in (from nested)
            and (source_id, coalesce(device_id, -1))
            in (select (source_id, coalesce(device_id, -1)) from busy)
    )
select
    source_id,
    device_id,
    op_name,
    elapsed_ns,
    event_id,
    from_ns,
    is_first,
    launch_thread_id,
    gap_start_ns,
    host_end_ns,
    piece.idle_kind,
    piece.piece_ns,
    piece.reason
from
    (
        select
            *,
            unnest(
                [
                    {'idle_kind':'data_loading', 'piece_ns':loading_ns, 'reason':null},
                    {'idle_kind':'compile', 'piece_ns':compile_ns, 'reason':null},
                    {
                        'idle_kind':
                        case
                            when is_waiting
                            then 'synchronisation'
                            when host_ns >= 1000000
                            then 'stall'
                            else 'host'
                        end,
                        'piece_ns':host_ns,
                        'reason':null
                    },
                    {
                        'idle_kind':'launch',
                        'piece_ns':if(call_ns < 1000000, call_ns, 0)
                        + if(delay_ns < 1000000, delay_ns, 0),
                        'reason':null
                    },
                    {
                        'idle_kind':'slow_launch',
                        'piece_ns':if(call_ns >= 1000000, call_ns, 0),
                        'reason':null
                    },
                    {
                        'idle_kind':'unexplained',
                        'piece_ns':if(delay_ns >= 1000000, delay_ns, 0),
                        'reason':'launched long before it begins'
                    },
                    {
                        'idle_kind':
                        case
                            when reason is not null or gap_end_ns - gap_start_ns >= 1000000
                            then 'unexplained'
                            when next_ns < 10000
                            then 'between'
                            else 'queued'
                        end,
                        'piece_ns':if(host_end_ns is null, gap_end_ns - gap_start_ns, 0),
                        'reason':coalesce(reason, 'launched before the gap began')
                    }
                ]
            ) as piece
        from told
    )
where piece.piece_ns > 0
