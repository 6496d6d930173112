-- purpose = "Time of compute, communication, copies and memsets on each device: sum, union,
-- exposed and alone."
-- source = "Zhu 2018 (TBD), eq. 1: active time is the union over all streams; docs/metrics.md,
-- section overlap"
-- needs = ["attribution"]
-- depends = ["work_in_window", "work_place", "whole_window", "work_class", "work_span",
-- "summed_source"]
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
    -- sources whose mixes are stored: what is below then reads no work of theirs. Mixes are of all
    -- work, not of some steps
    mixed as materialized(
        select places.*, whole.end_ns - whole.start_ns as elapsed_ns
        from places
        semi join
            (from summed_source where wanted_phase = 'all' and has_sums and has_mixes) using (
                run_id, source_id
            )
        join whole_window(wanted_run) as whole using (run_id, source_id)
        join
            (
                select run_id, source_id, min(start_ns) as start_ns, max(end_ns) as end_ns
                from work_span(wanted_run)
                group by run_id, source_id
            ) as worked using (run_id, source_id)
        -- a mix has no times: where some work lies outside of the window, each is read
        where worked.start_ns >= whole.start_ns and worked.end_ns <= whole.end_ns
    ),
    -- few: asking sums what they are is much faster than asking each kernel
    sorts as materialized(
        select
            *,
            case
                when sort_count > 0 then work_class(work_kind, name, collective_name, category_name)
            end as work_class
        from
            (
                select work_kind, name, collective_name, category_name, count(*) as sort_count
                from work_sum
                where wanted_run is null or run_id = wanted_run
                group by all
            )
    ),
    unmixed as materialized(from places anti join mixed using (place_index)),
    unmixed_work as not materialized(
        from work_in_window(wanted_run, wanted_phase) semi join unmixed using (place_index)
    ),
    sums as materialized(
        select
            place_index,
            work_class,
            any_value(elapsed_ns) as elapsed_ns,
            count(*) as work_count,
            sum(end_ns - start_ns) as sum_ns,
            sum(end_ns - start_ns) filter (where is_alone) as without_others_ns
        from unmixed_work
        group by place_index, work_class
        union all
        select
            mixed.place_index,
            sorts.work_class,
            any_value(mixed.elapsed_ns) as elapsed_ns,
            sum(work_sum.work_count) as work_count,
            sum(work_sum.dur_ns) as sum_ns,
            null as without_others_ns
        from work_sum
        join
            mixed
            on mixed.run_id = work_sum.run_id
            and mixed.source_id = work_sum.source_id
            and mixed.device_id is not distinct from work_sum.device_id
        join
            sorts
            on sorts.work_kind = work_sum.work_kind
            and sorts.name is not distinct from work_sum.name
            and sorts.collective_name is not distinct from work_sum.collective_name
            and sorts.category_name is not distinct from work_sum.category_name
        where work_sum.is_timed
        group by mixed.place_index, sorts.work_class
    ),
    members as (
        select
            mixed.place_index,
            work_mix.mix_index,
            work_mix.running_count,
            work_mix.started_count,
            work_mix.instant_count,
            work_mix.mix_ns,
            sorts.work_class,
            sorts.work_class in ('compute', 'communication') as is_kernel
        from work_mix
        join
            mixed
            on mixed.run_id = work_mix.run_id
            and mixed.source_id = work_mix.source_id
            and mixed.device_id is not distinct from work_mix.device_id
        join
            sorts
            on sorts.work_kind = work_mix.work_kind
            and sorts.name is not distinct from work_mix.name
            and sorts.collective_name is not distinct from work_mix.collective_name
            and sorts.category_name is not distinct from work_mix.category_name
    ),
    -- only what runs with other work is sorted
    work as materialized(
        select
            place_index,
            list_position(['compute', 'communication', 'memcpy', 'memset'], work_class)
            - 1 as class_rank,
            start_ns,
            end_ns
        from unmixed_work
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
                order by place_index, time_ns, change, class_rank
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
        union all
        select
            members.place_index,
            bit_or(classes.bit) filter (where members.running_count > 0) as running,
            any_value(members.mix_ns) as mix_ns
        from members
        join classes using (work_class)
        group by members.place_index, members.mix_index
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
        union all
        select
            members.place_index,
            classes.class_rank,
            sum(
                case when mix_kernels.kernel_count > 1 then members.started_count else 0 end
                + case when mix_kernels.kernel_count > 0 then members.instant_count else 0 end
            ) as overlapping_count
        from members
        join classes using (work_class)
        join
            (
                select place_index, mix_index, sum(running_count) as kernel_count
                from members
                where is_kernel
                group by place_index, mix_index
            ) as mix_kernels
            on mix_kernels.place_index = members.place_index
            and mix_kernels.mix_index = members.mix_index
        where members.is_kernel
        group by members.place_index, classes.class_rank
    )
select
    places.run_id,
    places.source_id,
    places.device_id,
    windows.elapsed_ns,
    cast(times.class_rank as bigint) as class_rank,
    times.work_class,
    cast(coalesce(sums.work_count, 0) as bigint) as work_count,
    cast(coalesce(overlapping.overlapping_count, 0) as bigint) as overlapping_count,
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
