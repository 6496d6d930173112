-- purpose = "Launch calls of kernels of one name, and the waits after them, are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "launch_bounds"
-- keys = ["name"]
-- options.by = ["name"]
-- needs = ["attribution"]
-- upon = "called_kernel"
-- is_partial = true
select
    name,
    count(*) as kernel_count,
    count(launch_event_id) / count(*) as coverage_ratio,
    coalesce(sum(dur_ns) filter (where launch_event_id is not null), 0)
    / nullif(sum(dur_ns), 0) as coverage_time_ratio,
    count(*) filter (where is_first and launch_event_id is not null) as launch_count,
    sum(launch_dur_ns) filter (where is_first) as call_ns,
    count(*) filter (
        where is_first and is_graph and launch_event_id is not null
    ) as graph_launch_count,
    call_ns / nullif(launch_count, 0) as mean_launch_ns,
    avg(start_ns - call_end_ns) filter (
        where is_first and start_ns >= call_end_ns
    ) as mean_delay_ns,
    count(*) filter (where is_first and start_ns < call_end_ns) as negative_delay_count,
    count(*) filter (where is_first and start_ns < launch_start_ns) as disagreeing_count
from called_kernel
where
    (select count(distinct source_id) from attribution where run_id = $run_id)
    = (select count(distinct source_id) from called_kernel)
group by name
