-- purpose = "Time of compute, communication, copies and memsets on each device: sum, union,
-- exposed and alone."
-- source = "Zhu 2018 (TBD), eq. 1: active time is the union over all streams; docs/metrics.md,
-- section overlap"
-- needs = ["attribution"]
-- depends = ["work_in_window"]
-- parameters = "wanted_run wanted_phase"
-- columns = "run_id source_id-rank device_id elapsed_ns class_rank work_class work_count
-- overlapping_count sum_ns union_ns exposed_ns alone_ns"
-- class_rank = "position of the class, from 0: each hides those after it"
-- work_class = "VARCHAR: compute, communication, memcpy or memset: four rows a device"
-- union_ns = "BIGINT: time with at least one running"
-- exposed_ns = "BIGINT: time with one running and no class before it; sums to the busy time"
with
    work as materialized(
        select
            *,
            cast(work_class = 'compute' as bigint) as compute,
            cast(work_class = 'communication' as bigint) as communication,
            cast(work_class = 'memcpy' as bigint) as memcpy,
            cast(work_class = 'memset' as bigint) as memset,
            max(end_ns) filter (where work_class in ('compute', 'communication')) over (
                partition by run_id, source_id, device_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from work_in_window(wanted_run, wanted_phase)
    ),
    edges as (
        select
            run_id,
            source_id,
            device_id,
            start_ns as time_ns,
            compute,
            communication,
            memcpy,
            memset
        from work
        union all
        select run_id, source_id, device_id, end_ns, - compute, - communication, - memcpy, - memset
        from work
    ),
    -- what runs between one start or end and the next
    pieces as (
        select
            run_id,
            source_id,
            device_id,
            lead(time_ns) over ordered - time_ns as piece_ns,
            sum(compute) over ordered > 0 as compute,
            sum(communication) over ordered > 0 as communication,
            sum(memcpy) over ordered > 0 as memcpy,
            sum(memset) over ordered > 0 as memset
        from edges
        window
            ordered as (
                partition by run_id, source_id, device_id
                order by time_ns
                rows between unbounded preceding and current row
            )
    ),
    mixes as (
        select
            run_id,
            source_id,
            device_id,
            sum(piece_ns) as mix_ns,
            [compute, communication, memcpy, memset] as running,
            list_position(running, true) as first_running,
            len(list_filter(running, lambda is_running:is_running)) as running_count
        from pieces
        group by run_id, source_id, device_id, running
    ),
    classes as (
        select
            unnest([0, 1, 2, 3]) as class_rank,
            unnest(['compute', 'communication', 'memcpy', 'memset']) as work_class
    ),
    times as (
        select
            run_id,
            source_id,
            device_id,
            class_rank,
            work_class,
            coalesce(sum(mix_ns) filter (where running[class_rank + 1]), 0) as union_ns,
            coalesce(sum(mix_ns) filter (where first_running = class_rank + 1), 0) as exposed_ns,
            coalesce(
                sum(mix_ns) filter (where running[class_rank + 1] and running_count = 1), 0
            ) as alone_ns
        from mixes
        cross join classes
        group by run_id, source_id, device_id, class_rank, work_class
    ),
    sums as (
        select
            run_id,
            source_id,
            device_id,
            work_class,
            count(*) as work_count,
            count(*) filter (
                where work_class in ('compute', 'communication') and start_ns < reach_ns
            ) as overlapping_count,
            sum(end_ns - start_ns) as sum_ns
        from work
        group by run_id, source_id, device_id, work_class
    ),
    windows as (
        select run_id, source_id, any_value(elapsed_ns) as elapsed_ns
        from work
        group by run_id, source_id
    )
select
    times.run_id,
    times.source_id,
    times.device_id,
    windows.elapsed_ns,
    cast(times.class_rank as bigint) as class_rank,
    times.work_class,
    coalesce(sums.work_count, 0) as work_count,
    coalesce(sums.overlapping_count, 0) as overlapping_count,
    cast(coalesce(sums.sum_ns, 0) as bigint) as sum_ns,
    cast(times.union_ns as bigint) as union_ns,
    cast(times.exposed_ns as bigint) as exposed_ns,
    cast(times.alone_ns as bigint) as alone_ns
from times
join windows on windows.run_id = times.run_id and windows.source_id = times.source_id
left join
    sums
    on sums.run_id = times.run_id
    and sums.source_id = times.source_id
    and sums.device_id is not distinct from times.device_id
    and sums.work_class = times.work_class
