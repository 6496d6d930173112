-- purpose = "Time of launches whose counters have none, from launches of the same kernel with
-- times in the run."
-- source = "docs/metrics.md, section Which kernels count"
-- needs = ["kernel_counter"]
-- depends = ["counter_source", "kernel_launch", "device_if_several"]
-- empty_without = ["kernel_counter"]
-- columns = "run_id source_id event_id-kernel other_ns"
-- other_ns = "duration in the other recording, of all launches in the row"
with
    counted as not materialized(
        select
            run_id,
            source_id,
            event_id,
            kernel.name,
            kernel.device_id,
            kernel.process_id,
            coalesce(kernel.launch_count, 1) as launch_count
        from kernel_counter
        join counter_source using (run_id, source_id)
        join kernel using (run_id, source_id, event_id)
        where kernel.dur_ns is null and (elapsed_cycles is null or sm_clock_hz is null)
    ),
    timed as not materialized(
        select run_id, source_id, event_id, name, device_id, launch_count, start_ns, dur_ns
        from kernel_launch
        join (select distinct run_id from counted) using (run_id)
    ),
    counted_of_device as (
        select * replace (device_if_several(run_id, device_id) as device_id) from counted
    ),
    timed_of_device as (
        select * replace (device_if_several(run_id, device_id) as device_id) from timed
    ),
    -- launches in order: each row stands for those from `first_launch` to `last_launch`
    counted_in_order as (
        select
            *,
            sum(launch_count) over so_far as last_launch,
            last_launch - launch_count as first_launch,
            sum(launch_count) over own as total_count,
            count(*) over own = 1
            or (min(process_id) over own = max(process_id) over own) as is_in_order
        from counted_of_device
        window
            own as (partition by run_id, name, device_id),
            so_far as (own order by source_id, event_id rows unbounded preceding)
    ),
    timed_in_order as (
        select
            *,
            sum(launch_count) over so_far as last_launch,
            last_launch - launch_count as first_launch,
            sum(launch_count) over own as total_count
        from timed_of_device
        window
            own as (partition by run_id, name, device_id),
            so_far as (own order by start_ns, source_id, event_id rows unbounded preceding)
    )
select
    counted.run_id,
    counted.source_id,
    counted.event_id,
    cast(sum(timed.dur_ns) as bigint) as other_ns
from counted_in_order as counted
join
    timed_in_order as timed
    on timed.run_id = counted.run_id
    and timed.name = counted.name
    and timed.device_id = counted.device_id
    and timed.total_count = counted.total_count
    and timed.first_launch >= counted.first_launch
    and timed.last_launch <= counted.last_launch
where counted.is_in_order
group by counted.run_id, counted.source_id, counted.event_id, counted.launch_count
having sum(timed.launch_count) = counted.launch_count and count(timed.dur_ns) = count(*)
