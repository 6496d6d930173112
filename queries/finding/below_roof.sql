-- purpose = "Time of kernels with counters above what their work takes at the roof, for those far
-- from it."
-- source = "Wang Y. 2020 (Time-Based Roofline), eq. 1 and sect. II"
-- needs = ["kernel_counter"]
-- depends = ["kernel_bound", "near_ratio", "whole_window"]
-- parameters = "run_id latency_below"
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
with
    launches as (
        select
            * exclude (roof_ratio),
            sum(dur_ns) over (partition by source_id) as all_ns,
            near_ratio(
                roof_ratio, nearest_name, compute_throughput_ratio, memory_throughput_ratio
            ) as roof_ratio
        from kernel_bound
        where run_id = $run_id and dur_ns > 0
    )
select
    name,
    cast(floor(sum(dur_ns * (1 - roof_ratio))) as bigint) as win_ns,
    cast(sum(launch_count) as bigint) as launch_count,
    cast(sum(dur_ns) as bigint) as total_ns,
    ratio(sum(dur_ns * roof_ratio), sum(dur_ns)) as roof_ratio,
    arg_max(nearest_name, dur_ns) as nearest_name,
    cast(
        coalesce(any_value(windows.end_ns - windows.start_ns), any_value(all_ns)) as bigint
    ) as elapsed_ns,
    launches.source_id,
    device_id
from launches
left join whole_window($run_id) as windows on windows.source_id = launches.source_id
where bound_kind = 'latency' and roof_ratio < $latency_below
group by launches.source_id, device_id, name
order by win_ns desc, launches.source_id, device_id, name
