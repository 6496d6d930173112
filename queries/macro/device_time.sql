-- purpose = "Time of compute, communication, copies and memsets on each device: sum, union,
-- exposed and alone."
-- source = "Zhu 2018 (TBD), eq. 1: active time is the union over all streams; docs/metrics.md,
-- section overlap"
-- needs = ["attribution"]
-- depends = ["work_in_window", "work_place"]
-- is_kept = true
-- parameters = "wanted_run wanted_phase"
-- columns = "run_id source_id-rank device_id elapsed_ns class_rank work_class work_count
-- overlapping_count sum_ns union_ns exposed_ns alone_ns"
-- class_rank = "position of the class, from 0: each hides those after it"
-- work_class = "VARCHAR: compute, communication, memcpy or memset: four rows a device"
-- union_ns = "BIGINT: time with at least one running"
-- exposed_ns = "BIGINT: time with one running and no class before it; sums to the busy time"
with
    places as materialized(from work_place(wanted_run)),
    sums as materialized(
        select
            place_index,
            work_class,
            any_value(elapsed_ns) as elapsed_ns,
            count(*) as work_count,
            sum(end_ns - start_ns) as sum_ns,
            sum(end_ns - start_ns) filter (where is_alone) as without_others_ns
        from work_in_window(wanted_run, wanted_phase)
        group by place_index, work_class
    ),
    -- only what runs with other work is sorted
    work as materialized(
        select
            place_index,
            list_position(['compute', 'communication', 'memcpy', 'memset'], work_class)
            - 1 as class_rank,
            start_ns,
            end_ns
        from work_in_window(wanted_run, wanted_phase)
        where is_alone is not true
    ),
    -- +1 where work starts, -1 where it ends, which is before all that starts then
    edges as (
        select
            place_index,
            class_rank,
            start_ns as time_ns,
            case when end_ns > start_ns then 1 else 0 end as change,
            true as is_start
        from work
        union all
        select place_index, class_rank, end_ns, -1, false
        from work
        where end_ns > start_ns
    ),
    -- what runs between one start or end and the next: two numbers of 32 bits in one of 64
    pieces as (
        select
            place_index,
            class_rank,
            change,
            is_start,
            lead(time_ns) over ordered - time_ns as piece_ns,
            cast(
                sum(
                    case class_rank when 0 then change when 1 then change * 4294967296 else 0 end
                ) over ordered as bigint
            ) as kernels,
            cast(
                sum(
                    case class_rank when 2 then change when 3 then change * 4294967296 else 0 end
                ) over ordered as bigint
            ) as others,
            kernels & 4294967295 as compute,
            kernels >> 32 as communication
        from edges
        window
            ordered as (
                -- not by partitions, which take longer: after the last work of a device, nothing
                -- runs
                order by place_index, time_ns, change
                rows between unbounded preceding and current row
            )
    ),
    classes as (
        select
            unnest([0, 1, 2, 3]) as class_rank,
            unnest([1, 2, 4, 8]) as bit,
            unnest(['compute', 'communication', 'memcpy', 'memset']) as work_class
    ),
    mixes as (
        select
            place_index,
            case when compute > 0 then 1 else 0 end
            + case when communication > 0 then 2 else 0 end
            + case when others & 4294967295 > 0 then 4 else 0 end
            + case when others >> 32 > 0 then 8 else 0 end as running,
            sum(piece_ns) as mix_ns
        from pieces
        group by place_index, running
        union all
        select sums.place_index, classes.bit as running, sums.without_others_ns as mix_ns
        from sums
        join classes using (work_class)
    ),
    times as (
        select
            place_index,
            class_rank,
            work_class,
            coalesce(sum(mix_ns) filter (where running & bit > 0), 0) as union_ns,
            coalesce(sum(mix_ns) filter (where running & (2 * bit - 1) = bit), 0) as exposed_ns,
            coalesce(sum(mix_ns) filter (where running = bit), 0) as alone_ns
        from mixes
        cross join classes
        group by place_index, class_rank, work_class
    ),
    windows as (
        select place_index, any_value(elapsed_ns) as elapsed_ns from sums group by place_index
    ),
    -- kernels that start while another runs
    overlapping as (
        select place_index, class_rank, count(*) as overlapping_count
        from pieces
        where is_start and class_rank < 2 and compute + communication > change
        group by place_index, class_rank
    )
select
    places.run_id,
    places.source_id,
    places.device_id,
    windows.elapsed_ns,
    cast(times.class_rank as bigint) as class_rank,
    times.work_class,
    coalesce(sums.work_count, 0) as work_count,
    coalesce(overlapping.overlapping_count, 0) as overlapping_count,
    cast(coalesce(sums.sum_ns, 0) as bigint) as sum_ns,
    cast(times.union_ns as bigint) as union_ns,
    cast(times.exposed_ns as bigint) as exposed_ns,
    cast(times.alone_ns as bigint) as alone_ns
from times
join places on places.place_index = times.place_index
join windows on windows.place_index = times.place_index
left join sums on sums.place_index = times.place_index and sums.work_class = times.work_class
left join
    overlapping
    on overlapping.place_index = times.place_index
    and overlapping.class_rank = times.class_rank
