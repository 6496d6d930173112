-- purpose = "Time of kernels with fewer blocks than the device has multiprocessors: the rest of the
-- device is idle."
-- source = "NVIDIA, CUDA C++ Best Practices Guide, section Thread and Block Heuristics: more blocks
-- than multiprocessors"
-- needs = ["attribution", "kernel"]
-- depends = ["work_in_window"]
-- parameters = "run_id phase"
-- columns = "name win_ns launch_count total_ns blocks_per_sm_count elapsed_ns source_id-rank
-- device_id"
-- win_ns = "time of the kernels, times the share of multiprocessors without a block"
-- launch_count = "BIGINT: launches with a grid that small"
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
    small as (
        select
            work.source_id,
            work.device_id,
            work.name,
            work.end_ns - work.start_ns as dur_ns,
            -- AMD's profiler writes the grid alone
            coalesce(
                kernel.blocks_per_sm_count,
                ratio(kernel.grid_x * kernel.grid_y * kernel.grid_z, device.sm_count)
            ) as blocks,
            work.elapsed_ns
        from work_in_window($run_id, $phase) as work
        join
            kernel
            on kernel.run_id = $run_id
            and kernel.source_id = work.source_id
            and kernel.event_id = work.event_id
        left join
            device
            on device.run_id = $run_id
            and device.source_id = work.source_id
            and device.device_id = work.device_id
        where work.work_class = 'compute' and blocks < 1
    )
select
    name,
    cast(floor(sum(dur_ns * (1 - blocks))) as bigint) as win_ns,
    count(*) as launch_count,
    cast(sum(dur_ns) as bigint) as total_ns,
    ratio(sum(dur_ns * blocks), sum(dur_ns)) as blocks_per_sm_count,
    any_value(elapsed_ns) as elapsed_ns,
    source_id,
    device_id
from small
group by source_id, device_id, name
having win_ns > 0
order by win_ns desc, source_id, device_id, name
