-- purpose = "Idle times of devices, split by what they waited for, one row per part."
-- source = "HTA's breakdown of idle time into host, kernel and other waits; docs/metrics.md,
-- section gaps"
-- needs = ["attribution"]
-- depends = ["is_compiling", "is_data_loading", "recorded_gap"]
-- parameters = "wanted_run wanted_phase"
-- columns = "run_id source_id-rank device_id gap_start_ns gap_end_ns window_start_ns
-- elapsed_ns-steps previous_event_id next_event_id gap_kind part_start_ns call_ns part_ns
-- reason-gap"
-- part_start_ns = "BIGINT: start of the part; loading and compiling are drawn together, first"
-- call_ns = "BIGINT: of a part of kind launch, the time during the launch call; else 0"
-- part_ns = "BIGINT: time of the part; the parts of a gap sum to it"
with
    -- a launch that returned so long ago is not what the device waited for
    limits as (select 1000000 as long_ns),
    told as materialized(
        select
            *,
            row_number() over () as gap_index,
            case
                when rest_kind = 'launch' and gap_end_ns - host_end_ns - call_ns >= long_ns
                then gap_end_ns - host_end_ns - call_ns
                else 0
            end as late_ns
        from recorded_gap(wanted_run, wanted_phase)
        cross join limits
    ),
    -- what the host did meanwhile: loading data, compiling, or a call that can wait for the device
    calls as materialized(
        select
            run_id,
            source_id,
            thread_id,
            start_ns,
            start_ns + dur_ns as end_ns,
            case
                when is_compiling(name)
                then 'compile'
                when slice_kind in ('annotation', 'op')
                then 'data_loading'
            end as cause
        from slice
        where
            (wanted_run is null or run_id = wanted_run)
            and slice_kind in ('annotation', 'op', 'runtime', 'driver')
            and (
                is_compiling(name)
                or slice_kind in ('annotation', 'op')
                and is_data_loading(name)
                or slice_kind in ('runtime', 'driver')
                and (contains(name, 'ynchronize') or contains(name, 'emcpy'))
            )
            and dur_ns > 0
    ),
    spent as (
        select
            *,
            max(end_ns) over (
                partition by run_id, source_id, thread_id, cause
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from
            (
                from calls
                where cause is not null
                union all
                -- loading that compiles is compiling: the union of both tells how much more it is
                select * replace ('data_loading' as cause)
                from calls
                where cause = 'compile'
            )
    ),
    -- the union of these on each thread: intervals that do not overlap, with the time in those
    -- before
    united as materialized(
        select
            run_id,
            source_id,
            thread_id,
            cause,
            greatest(start_ns, coalesce(reach_ns, start_ns)) as from_ns,
            end_ns as till_ns,
            sum(end_ns - from_ns) over (
                partition by run_id, source_id, thread_id, cause order by end_ns
            )
            - (end_ns - from_ns) as before_ns
        from spent
        where reach_ns is null or end_ns > reach_ns
    ),
    late as materialized(
        select told.*, coalesce(waits.end_ns > told.gap_start_ns, false) as is_waiting
        from told
        asof left join
            (
                -- a call within it can have ended
                select
                    run_id,
                    source_id,
                    thread_id,
                    start_ns,
                    max(end_ns) over (
                        partition by run_id, source_id, thread_id order by start_ns
                    ) as end_ns
                from calls
                where cause is null
            ) as waits
            on waits.run_id = told.run_id
            and waits.source_id = told.source_id
            and waits.thread_id = told.launch_thread_id
            and waits.start_ns <= told.gap_start_ns
        where told.host_end_ns > told.gap_start_ns
    ),
    caused as materialized(
        select
            late.*,
            causes.cause,
            cast(
                last.before_ns
                + least(late.host_end_ns, last.till_ns)
                - last.from_ns
                - coalesce(
                    first.before_ns + least(late.gap_start_ns, first.till_ns) - first.from_ns, 0
                ) as bigint
            ) as cause_ns
        from late
        cross join (select distinct cause from united) as causes
        asof left join
            united as first
            on first.run_id = late.run_id
            and first.source_id = late.source_id
            and first.thread_id = late.launch_thread_id
            and first.cause = causes.cause
            and first.from_ns <= late.gap_start_ns
        asof join
            united as last
            on last.run_id = late.run_id
            and last.source_id = late.source_id
            and last.thread_id = late.launch_thread_id
            and last.cause = causes.cause
            and last.from_ns <= late.host_end_ns
    ),
    causes as (
        select
            *,
            coalesce(lag(cause_ns) over (partition by gap_index order by cause), 0) as compile_ns,
            gap_start_ns + compile_ns as part_start_ns,
            cause_ns - compile_ns as part_ns
        from caused
    ),
    parts as (
        select * exclude (compile_ns) replace (null as reason, 0 as call_ns), cause as gap_kind
        from causes
        union all by name
        select
            late.* replace (null as reason, 0 as call_ns),
            case when is_waiting then 'synchronisation' else 'host' end as gap_kind,
            late.gap_start_ns + coalesce(known.known_ns, 0) as part_start_ns,
            late.host_end_ns - part_start_ns as part_ns
        from late
        left join
            (
                select gap_index, cast(sum(part_ns) as bigint) as known_ns
                from causes
                group by gap_index
            ) as known using (gap_index)
        union all by name
        select
            *,
            rest_kind as gap_kind,
            host_end_ns as part_start_ns,
            gap_end_ns - host_end_ns - late_ns as part_ns
        from told
        union all by name
        select
            * replace ('launched long before it begins' as reason, 0 as call_ns),
            'unknown' as gap_kind,
            gap_end_ns - late_ns as part_start_ns,
            late_ns as part_ns
        from told
    )
select
    run_id,
    source_id,
    device_id,
    gap_start_ns,
    gap_end_ns,
    window_start_ns,
    elapsed_ns,
    previous_event_id,
    next_event_id,
    gap_kind,
    part_start_ns,
    call_ns,
    part_ns,
    reason
from parts
where part_ns > 0
