-- purpose = "Idle times of devices, split by what they waited for, one row per part."
-- source = "HTA's breakdown of idle time into host, kernel and other waits; docs/metrics.md,
-- section gaps"
-- needs = ["attribution"]
-- depends = ["is_data_loading", "recorded_gap"]
-- parameters = "wanted_run wanted_phase"
-- columns = "run_id source_id-rank device_id gap_start_ns gap_end_ns window_start_ns
-- elapsed_ns-steps previous_event_id next_event_id gap_kind part_ns reason-gap"
-- part_ns = "BIGINT: time of the part; the parts of a gap sum to it"
with
    told as materialized(select * from recorded_gap(wanted_run, wanted_phase)),
    -- what the host did meanwhile: loading data, or a call that can wait for the device
    calls as materialized(
        select
            run_id,
            source_id,
            thread_id,
            start_ns,
            start_ns + dur_ns as end_ns,
            slice_kind in ('annotation', 'op') as is_loading
        from slice
        where
            (wanted_run is null or run_id = wanted_run)
            and (
                slice_kind in ('annotation', 'op')
                and is_data_loading(name)
                or slice_kind in ('runtime', 'driver')
                and (contains(name, 'ynchronize') or contains(name, 'emcpy'))
            )
            and dur_ns > 0
    ),
    loading as (
        select
            *,
            max(end_ns) over (
                partition by run_id, source_id, thread_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from calls
        where is_loading
    ),
    -- the union of these on each thread: intervals that do not overlap, with the time in those
    -- before
    loaded as materialized(
        select
            run_id,
            source_id,
            thread_id,
            greatest(start_ns, coalesce(reach_ns, start_ns)) as load_start_ns,
            end_ns as load_end_ns,
            sum(end_ns - load_start_ns) over (
                partition by run_id, source_id, thread_id order by end_ns
            )
            - (end_ns - load_start_ns) as before_ns
        from loading
        where reach_ns is null or end_ns > reach_ns
    ),
    late as (
        select
            told.*,
            coalesce(
                first.before_ns + least(told.gap_start_ns, first.load_end_ns) - first.load_start_ns,
                0
            ) as loaded_before_ns,
            coalesce(waits.end_ns > told.gap_start_ns, false) as is_waiting
        from told
        asof left join
            loaded as first
            on first.run_id = told.run_id
            and first.source_id = told.source_id
            and first.thread_id = told.launch_thread_id
            and first.load_start_ns <= told.gap_start_ns
        asof left join
            (
                select run_id, source_id, thread_id, start_ns, max(end_ns) as end_ns
                from calls
                where not is_loading
                group by run_id, source_id, thread_id, start_ns
            ) as waits
            on waits.run_id = told.run_id
            and waits.source_id = told.source_id
            and waits.thread_id = told.launch_thread_id
            and waits.start_ns <= told.gap_start_ns
        where told.host_end_ns > told.gap_start_ns
    ),
    split as materialized(
        select
            late.*,
            cast(
                coalesce(
                    last.before_ns + least(late.host_end_ns, last.load_end_ns) - last.load_start_ns,
                    0
                )
                - late.loaded_before_ns as bigint
            ) as data_loading_ns
        from late
        asof left join
            loaded as last
            on last.run_id = late.run_id
            and last.source_id = late.source_id
            and last.thread_id = late.launch_thread_id
            and last.load_start_ns <= late.host_end_ns
    ),
    parts as (
        select * replace (null as reason), 'data_loading' as gap_kind, data_loading_ns as part_ns
        from split
        union all by name
        select
            * replace (null as reason),
            case when is_waiting then 'synchronisation' else 'host' end as gap_kind,
            host_end_ns - gap_start_ns - data_loading_ns as part_ns
        from split
        union all by name
        select *, rest_kind as gap_kind, gap_end_ns - host_end_ns as part_ns
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
    part_ns,
    reason
from parts
where part_ns > 0
