-- purpose = "Time above the roof of kernels with counters that are far from it and have few warps
-- at a time, without tensor cores, which need few."
-- source = "NVIDIA Nsight Compute, rule Occupancy; docs/metrics.md, section Findings"
-- needs = ["kernel_counter"]
-- depends = ["kernel_bound", "whole_window"]
-- parameters = "run_id latency_below occupancy_below"
-- occupancy_below = {type = "DOUBLE", doc = "achieved occupancy below which warps are few", default
-- = 0.3}
-- columns = "name win_ns-roof launch_count-few total_ns occupancy_ratio-mean roof_ratio-few
-- elapsed_ns source_id-rank device_id"
-- launch_count-few = "BIGINT: launches below that occupancy"
-- roof_ratio-few = "DOUBLE: time at peak / time, over these launches"
-- finding.title = "Too few warps hide the latency of kernels"
-- finding.evidence = "{launch_count:launch}; most to win in {name}: {occupancy_ratio} achieved
-- occupancy, {roof_ratio} of its roof"
-- finding.action = "More blocks per launch, or fewer registers and less shared memory per block
-- (smaller tiles, __launch_bounds__)."
-- finding.command = "kernels"
-- finding.sums = ["launch_count", "total_ns"]
-- finding.pool = "compute"
with
    launches as (
        select *, sum(dur_ns) over (partition by source_id) as all_ns
        from kernel_bound
        where run_id = $run_id and dur_ns > 0
    )
select
    name,
    cast(floor(sum(dur_ns * (1 - roof_ratio))) as bigint) as win_ns,
    cast(sum(launch_count) as bigint) as launch_count,
    cast(sum(dur_ns) as bigint) as total_ns,
    ratio(sum(dur_ns * occupancy_ratio), sum(dur_ns)) as occupancy_ratio,
    ratio(sum(dur_ns * roof_ratio), sum(dur_ns)) as roof_ratio,
    cast(
        coalesce(any_value(windows.end_ns - windows.start_ns), any_value(all_ns)) as bigint
    ) as elapsed_ns,
    launches.source_id,
    device_id
from launches
left join whole_window($run_id) as windows on windows.source_id = launches.source_id
where
    roof_ratio < $latency_below
    and occupancy_ratio < $occupancy_below
    and coalesce(tensor_flop, 0) = 0
group by launches.source_id, device_id, name
order by win_ns desc, launches.source_id, device_id, name
