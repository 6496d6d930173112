-- purpose = "Kernels by duration: launches and time in each class, next to the cost of the launch
-- calls and the idle time of the device before them."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II: launch overhead; TraceLens' histogram of
-- short kernels; docs/metrics.md, section short_kernels"
-- topic = "kernels"
-- needs = ["attribution"]
-- depends = ["device_work", "step_window", "recorded_gap", "missing_launches"]
-- parameters = "run_id phase-kernels"
-- columns = "duration_class launch_count launch_ratio share_ratio total_ns mean_call_ns call_ns
-- shorter_count idle_ns idle_share_ratio kernel_count-names name reason"
-- answer = "launch_ratio share_ratio idle_ns"
-- duration_class = "VARCHAR: duration of one kernel, from the first value to below the second"
-- launch_count = "kernels launched"
-- launch_ratio = "DOUBLE: launch_count / launch_count of all rows"
-- mean_call_ns = "DOUBLE: mean time of the launch call per kernel; a call that launches several,
-- such as a graph, is divided equally among them"
-- call_ns = "DOUBLE: sum of the same"
-- shorter_count = "BIGINT: kernels that take less time than their share of the launch call"
-- idle_ns = "BIGINT: idle time of the device that ended with these kernels"
-- idle_share_ratio = "DOUBLE: idle_ns / idle time that ended with any kernel"
-- name = "kernel with the most launches in the class"
-- reason = "why launch calls are unknown or incomplete"
with
    kernels as (
        select
            kernel.name,
            kernel.end_ns - kernel.start_ns as dur_ns,
            ratio(
                kernel.launch_end_ns - kernel.launch_start_ns, coalesce(kernel.launch_work_count, 1)
            ) as call_ns,
            coalesce(idle.idle_ns, 0) as idle_ns,
            case
                when dur_ns < 2000
                then 1
                when dur_ns < 5000
                then 2
                when dur_ns < 10000
                then 3
                when dur_ns < 20000
                then 4
                when dur_ns < 50000
                then 5
                when dur_ns < 100000
                then 6
                when dur_ns < 1000000
                then 7
                else 8
            end as class_index
        from device_work as kernel
        join step_window($run_id, $phase) as windows on windows.source_id = kernel.source_id
        left join
            (
                select source_id, next_event_id, sum(gap_end_ns - gap_start_ns) as idle_ns
                from recorded_gap($run_id, $phase)
                where rest_kind <> 'not_recorded'
                group by source_id, next_event_id
            ) as idle
            on idle.source_id = kernel.source_id
            and idle.next_event_id = kernel.event_id
        where
            kernel.run_id = $run_id
            and kernel.work_kind = 'kernel'
            and (
                windows.first_step_index is null
                or (kernel.start_ns >= windows.start_ns and kernel.start_ns < windows.end_ns)
            )
    ),
    named as (
        select
            class_index,
            name,
            count(*) as launch_count,
            sum(dur_ns) as total_ns,
            count(call_ns) as known_count,
            sum(call_ns) as call_ns,
            count(*) filter (where dur_ns < call_ns) as shorter_count,
            sum(idle_ns) as idle_ns
        from kernels
        group by class_index, name
    ),
    classes as (
        select
            class_index,
            cast(sum(launch_count) as bigint) as launch_count,
            cast(sum(total_ns) as bigint) as total_ns,
            cast(sum(known_count) as bigint) as known_count,
            sum(call_ns) as call_ns,
            cast(sum(shorter_count) as bigint) as shorter_count,
            cast(sum(idle_ns) as bigint) as idle_ns,
            count(distinct name) as kernel_count,
            arg_min(name, (- launch_count, name)) as name
        from named
        group by class_index
    )
select
    [
        '0 µs to 2 µs',
        '2 µs to 5 µs',
        '5 µs to 10 µs',
        '10 µs to 20 µs',
        '20 µs to 50 µs',
        '50 µs to 100 µs',
        '100 µs to 1 ms',
        '1 ms and more'
    ][class_index] as duration_class,
    launch_count,
    ratio(launch_count, sum(launch_count) over ()) as launch_ratio,
    ratio(total_ns, sum(total_ns) over ()) as share_ratio,
    total_ns,
    ratio(call_ns, known_count) as mean_call_ns,
    call_ns,
    case when known_count > 0 then shorter_count end as shorter_count,
    idle_ns,
    ratio(idle_ns, sum(idle_ns) over ()) as idle_share_ratio,
    kernel_count,
    name,
    missing_launches(known_count, launch_count) as reason
from classes
order by class_index
