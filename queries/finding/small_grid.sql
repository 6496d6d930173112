-- purpose = "Time of kernels with fewer blocks than the device has multiprocessors, while nothing
-- beside them fills it: the rest of the device is idle."
-- source = "NVIDIA, CUDA C++ Best Practices Guide, section Thread and Block Heuristics: more blocks
-- than multiprocessors"
-- needs = ["attribution", "kernel"]
-- depends = ["device_listed", "work_in_window", "whole_ns"]
-- parameters = "run_id phase"
-- columns = "name win_ns launch_count total_ns blocks_per_sm_count elapsed_ns source_id-rank
-- device_id"
-- win_ns = "time of the kernels, times the share of multiprocessors without a block of any kernel;
-- shared by those that run at once; none beside a kernel with unknown blocks"
-- launch_count = "BIGINT: launches with a grid that small, with such time"
-- blocks_per_sm_count = "DOUBLE: blocks / multiprocessors, mean over their time"
-- finding.title = "Kernels are too small to fill the device"
-- finding.evidence = "{launch_count:launch} with fewer blocks than multiprocessors; most time in
-- {name}, with {blocks_per_sm_count} blocks per multiprocessor"
-- finding.action = "Give each kernel more work: larger batches, batched or fused operators; or run
-- several at once on streams."
-- finding.command = "query kernel_time"
-- finding.sums = ["launch_count", "total_ns"]
-- finding.pool = "compute"
with
    kernels as materialized(
        select
            work.source_id,
            work.device_id,
            work.event_id,
            work.name,
            work.start_ns,
            work.end_ns,
            work.elapsed_ns,
            -- AMD's profiler writes the grid alone
            coalesce(
                kernel.blocks_per_sm_count,
                ratio(
                    cast(kernel.grid_x as double) * kernel.grid_y * kernel.grid_z, device.sm_count
                )
            ) as blocks,
            -- the first kernel of the next step can begin before the last of this one ends
            coalesce(
                work.is_of_steps and work.work_class = 'compute' and blocks < 1, false
            ) as is_small
        from work_in_window($run_id, $phase) as work
        join
            kernel
            on kernel.run_id = $run_id
            and kernel.source_id = work.source_id
            and kernel.event_id = work.event_id
        left join
            device_listed as device
            on device.run_id = $run_id
            and device.source_id = work.source_id
            and device.device_id = work.device_id
        where work.end_ns > work.start_ns
    ),
    changes as (
        select
            source_id,
            device_id,
            time_ns,
            sum(change_count * coalesce(blocks, 1)) as blocks_change,
            sum(change_count * cast(is_small as integer)) as small_change
        from
            (
                select *, start_ns as time_ns, 1 as change_count
                from kernels
                union all
                select *, end_ns as time_ns, -1 as change_count
                from kernels
            )
        group by source_id, device_id, time_ns
    ),
    held as (
        select
            source_id,
            device_id,
            time_ns,
            lead(time_ns) over ordered - time_ns as span_ns,
            sum(blocks_change) over ordered as all_blocks,
            sum(small_change) over ordered as small_count
        from changes
        window ordered as (partition by source_id, device_id order by time_ns)
    ),
    -- the empty time until each change, shared by the small kernels that run
    emptied as (
        select
            source_id,
            device_id,
            time_ns,
            coalesce(
                sum(
                    case
                        when small_count > 0
                        then span_ns * greatest(ratio(1 - all_blocks, small_count), 0)
                    end
                ) over (
                    partition by source_id, device_id
                    order by time_ns
                    rows between unbounded preceding and 1 preceding
                ),
                0
            ) as empty_ns
        from held
    ),
    small as (
        select kernels.*, last.empty_ns - first.empty_ns as empty_ns
        from kernels
        join
            emptied as first
            on first.source_id = kernels.source_id
            and first.device_id is not distinct from kernels.device_id
            and first.time_ns = kernels.start_ns
        join
            emptied as last
            on last.source_id = kernels.source_id
            and last.device_id is not distinct from kernels.device_id
            and last.time_ns = kernels.end_ns
        where kernels.is_small
    )
select
    name,
    whole_ns(sum(empty_ns)) as win_ns,
    count(*) as launch_count,
    cast(sum(end_ns - start_ns) as bigint) as total_ns,
    ratio(sum((end_ns - start_ns) * blocks), sum(end_ns - start_ns)) as blocks_per_sm_count,
    any_value(elapsed_ns) as elapsed_ns,
    source_id,
    device_id
from small
-- what rounding leaves of a device that is full
where empty_ns > 1e-3
group by source_id, device_id, name
having win_ns > 0
order by win_ns desc, source_id, device_id, name
