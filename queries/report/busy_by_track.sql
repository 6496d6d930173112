-- purpose = "Busy time of each device by track: kernels and each other kind of interval
-- (programs, asynchronous copies, steps, annotations), between the first and the last kernel,
-- copy or memset."
-- source = "union of the intervals, as in gpu_utilization; docs/metrics.md, section
-- gpu_utilization"
-- topic = "time"
-- needs = ["attribution"]
-- depends = ["device_work", "step_window", "device_rank"]
-- parameters = "run_id phase"
-- columns = "rank_index device_id track_kind busy_ratio busy_ns sum_ns interval_count meaning
-- elapsed_ns source_id-rank"
-- track_kind = "VARCHAR: kernels; XLA Modules, Async XLA Ops and so on, as the profiler names the
-- row; gpu_user_annotation"
-- busy_ns = "time with at least one interval (union)"
-- interval_count = "BIGINT: intervals"
-- meaning = "VARCHAR: what is busy; NULL if unknown"
with
    windows as materialized(from step_window($run_id, $phase) where start_ns is not null),
    intervals as (
        select source_id, device_id, 'kernels' as track_kind, start_ns, end_ns, is_alone
        from device_work
        where run_id = $run_id and work_kind = 'kernel'
        union all
        select
            source_id,
            device_id,
            coalesce(category_name, slice_kind),
            start_ns,
            start_ns + dur_ns,
            null
        from slice
        where
            run_id = $run_id
            and slice_kind = 'device_annotation'
            and start_ns is not null
            and dur_ns is not null
    ),
    cut as (
        select
            source_id,
            device_id,
            track_kind,
            windows.end_ns - windows.start_ns as elapsed_ns,
            greatest(intervals.start_ns, windows.start_ns) as start_ns,
            least(intervals.end_ns, windows.end_ns) as end_ns,
            is_alone
        from intervals
        join windows using (source_id)
        where intervals.start_ns < windows.end_ns and intervals.end_ns > windows.start_ns
    ),
    -- only what can run with others is sorted
    reached as (
        select *, null as reach_ns
        from cut
        where is_alone
        union all
        select
            *,
            max(end_ns) over (
                partition by source_id, device_id, track_kind
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from cut
        where is_alone is not true
    ),
    busy as (
        select
            source_id,
            device_id,
            track_kind,
            any_value(elapsed_ns) as elapsed_ns,
            cast(
                sum(
                    greatest(end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)), 0)
                ) as bigint
            ) as busy_ns,
            cast(sum(end_ns - start_ns) as bigint) as sum_ns,
            count(*) as interval_count
        from reached
        group by source_id, device_id, track_kind
    )
select
    device_rank.rank_index,
    busy.device_id,
    track_kind,
    ratio(busy_ns, elapsed_ns) as busy_ratio,
    busy_ns,
    sum_ns,
    interval_count,
    case
        track_kind
        when 'kernels'
        then 'kernels and operators'
        when 'XLA Modules'
        then 'programs with their waits'
        when 'Async XLA Ops'
        then 'copies and collectives under way'
    end as meaning,
    elapsed_ns,
    busy.source_id
from busy
left join
    device_rank
    on device_rank.run_id = $run_id
    and device_rank.source_id = busy.source_id
    and device_rank.device_id is not distinct from busy.device_id
order by
    rank_index nulls last,
    busy.source_id,
    busy.device_id nulls last,
    track_kind <> 'kernels',
    busy_ns desc,
    track_kind
