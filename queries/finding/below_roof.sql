-- purpose = "Time of kernels with counters above what their work takes at the roof, for those far
-- from it."
-- source = "Wang Y. 2020 (Time-Based Roofline), eq. 1 and sect. II"
-- needs = ["kernel_counter"]
-- depends = ["launch_at_roof", "whole_ns"]
-- parameters = "run_id phase-counted latency_below"
-- columns = "name win_ns launch_count total_ns roof_ratio nearest_name elapsed_ns source_id-rank
-- device_id"
-- launch_count = "BIGINT: launches below that share"
-- roof_ratio = "DOUBLE: time at peak / time, over them"
-- nearest_name = "VARCHAR: nearest roof"
-- finding.title = "Kernels are far from every roof"
-- finding.evidence = "{launch_count:launch}; most to win in {name}: {roof_ratio} of its nearest
-- roof, {nearest_name}"
-- finding.action = "Latency bounds them: more parallel work per launch, better occupancy, fewer
-- dependent instructions and uncoalesced accesses; or fuse them away."
-- finding.command = "kernels"
-- finding.sums = ["launch_count", "total_ns"]
-- finding.pool = "compute"
select
    name,
    whole_ns(sum(dur_ns * (1 - near_roof_ratio))) as win_ns,
    cast(sum(launch_count) as bigint) as launch_count,
    cast(sum(dur_ns) as bigint) as total_ns,
    ratio(sum(dur_ns * near_roof_ratio), sum(dur_ns)) as roof_ratio,
    arg_min(nearest_name, (- dur_ns, nearest_name)) as nearest_name,
    any_value(elapsed_ns) as elapsed_ns,
    source_id,
    device_id
from launch_at_roof($run_id, $phase)
where bound_kind = 'latency' and near_roof_ratio < $latency_below
group by source_id, device_id, name
order by win_ns desc, source_id, device_id, name
