-- purpose = "Time above the roof of kernels with counters that are far from it and have few warps
-- at a time, without tensor cores, which need few."
-- source = "NVIDIA Nsight Compute, rule Occupancy; docs/metrics.md, section Findings"
-- needs = ["kernel_counter"]
-- depends = ["launch_at_roof", "whole_ns"]
-- parameters = "run_id phase-counted latency_below occupancy_below"
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
select
    name,
    whole_ns(sum(dur_ns * (1 - roof_ratio))) as win_ns,
    cast(sum(launch_count) as bigint) as launch_count,
    cast(sum(dur_ns) as bigint) as total_ns,
    ratio(sum(dur_ns * occupancy_ratio), sum(dur_ns)) as occupancy_ratio,
    ratio(sum(dur_ns * roof_ratio), sum(dur_ns)) as roof_ratio,
    any_value(elapsed_ns) as elapsed_ns,
    source_id,
    device_id
from launch_at_roof($run_id, $phase)
where roof_ratio < $latency_below and occupancy_ratio < $occupancy_below and tensor_flop = 0
group by source_id, device_id, name
order by win_ns desc, source_id, device_id, name
