-- purpose = "Time of kernels with counters in which their last wave of blocks leaves
-- multiprocessors idle."
-- source = "NVIDIA Nsight Compute, Launch Statistics: Waves Per SM, and its rule on the tail
-- effect; docs/metrics.md, section Findings"
-- needs = ["kernel_metric", "kernel"]
-- depends = ["whole_ns"]
-- parameters = "run_id"
-- columns = "name win_ns launch_count-waves total_ns wave_count elapsed_ns-counted source_id-rank
-- device_id"
-- win_ns = "time of each launch, times the empty share of its waves"
-- launch_count-waves = "BIGINT: launches with a last wave that is not full"
-- wave_count = "DOUBLE: waves, mean over their time"
-- elapsed_ns-counted = "BIGINT: time of all kernels of the device"
-- finding.title = "The last wave of blocks leaves multiprocessors idle"
-- finding.evidence = "{launch_count:launch}, {total_ns}; most to win[ in {name}] with {wave_count}
-- waves"
-- finding.action = "Choose grids that fill whole waves (other tiles, stream-K, persistent kernels),
-- or give launches more blocks."
-- finding.command = "kernels"
-- finding.sums = ["launch_count", "total_ns"]
-- finding.pool = "compute"
with
    waves as (
        select source_id, event_id, max(value) as wave_count
        from kernel_metric
        where run_id = $run_id and metric_name = 'launch__waves_per_multiprocessor' and value > 0
        group by source_id, event_id
    ),
    launches as (
        select
            kernel.source_id,
            kernel.device_id,
            kernel.name,
            kernel.dur_ns,
            kernel.launch_count,
            waves.wave_count,
            1 - ratio(waves.wave_count, ceil(waves.wave_count)) as empty_ratio,
            sum(kernel.dur_ns) over (partition by kernel.source_id, kernel.device_id) as elapsed_ns
        from kernel
        left join waves on waves.source_id = kernel.source_id and waves.event_id = kernel.event_id
        where kernel.run_id = $run_id and kernel.dur_ns > 0
    )
select
    name,
    whole_ns(sum(dur_ns * empty_ratio)) as win_ns,
    cast(sum(launch_count) as bigint) as launch_count,
    cast(sum(dur_ns) as bigint) as total_ns,
    ratio(sum(dur_ns * wave_count), sum(dur_ns)) as wave_count,
    cast(any_value(elapsed_ns) as bigint) as elapsed_ns,
    source_id,
    device_id
from launches
where empty_ratio > 0
group by source_id, device_id, name
having win_ns > 0
order by win_ns desc, source_id, device_id, name
