-- purpose = "Whether launches bound kernels: N launches of L each, against the time of the work
-- at peak, and the minimum work per launch."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II and III: overhead-bound, total FLOPs /
-- (N L), peak x L"
-- topic = "kernels"
-- needs = ["kernel_counter"]
-- depends = ["grouped_launch", "mean_over", "roof_of", "busy_what", "whole_sum", "possible_ratio",
-- "roof_reason"]
-- parameters = "run_id-all phase-counted by label fp16_convention latency_below launch_overhead_ns"
-- columns = "name launch_count bound_kind-launches per_launch_ns overhead_ns-launches compute_ns
-- bandwidth_ns total_ns overhead_ceiling_flop_per_s peak_flop_per_s least_flop total_flop
-- total_bytes reason nearest_name-launches roof_ratio-overhead fp16_convention is_total"
-- answer = "bound_kind overhead_ns total_ns"
-- name = "kernel, run or label value; (all) for all"
-- bandwidth_ns = "time of the device memory traffic at peak"
-- peak_flop_per_s = "operations / compute_ns: peak of this mix of precisions"
-- least_flop = "DOUBLE: peak x L: operations per launch above which it is not overhead-bound"
-- total_flop = "operations, FP16 by its convention"
-- total_bytes = "bytes to and from device memory"
with
    grouped as (
        select
            group_name,
            owner_id,
            launch_event,
            grouping(group_name) = 1 as is_total,
            cast(sum(launch_count) as bigint) as launch_count,
            coalesce(
                cast($launch_overhead_ns as double) * sum(launch_count), whole_sum(overhead_ns)
            ) as overhead_ns,
            whole_sum(compute_ns) as compute_ns,
            whole_sum(dram_ns) as bandwidth_ns,
            whole_sum(l2_ns) as l2_ns,
            whole_sum(l1_ns) as l1_ns,
            mean_over(compute_throughput_ratio, dur_ns) as compute_throughput_ratio,
            mean_over(memory_throughput_ratio, dur_ns) as memory_throughput_ratio,
            cast(sum(dur_ns) as bigint) as total_ns,
            bool_and(dur_ns is not null) as is_timed,
            cast(whole_sum(all_flop) as double) as total_flop,
            cast(whole_sum(dram_bytes) as double) as total_bytes,
            arg_min(bound_reason, (- coalesce(dur_ns, 0), bound_reason)) filter (
                where bound_kind is null
            ) as bound_reason,
            any_value(group_number) as group_number
        from grouped_launch($run_id, $phase, $by, $label, 'fp32', $fp16_convention)
        group by grouping sets ((group_name, owner_id, launch_event), ())
    ),
    held as (
        select
            *,
            case when is_timed then total_ns end as timed_ns,
            unnest(
                roof_of(
                    compute_ns,
                    bandwidth_ns,
                    l2_ns,
                    l1_ns,
                    overhead_ns,
                    timed_ns,
                    busy_what(compute_throughput_ratio, memory_throughput_ratio, $latency_below),
                    $latency_below
                )
            )
        from grouped
    ),
    bounded as (
        select * replace (case when overhead_ns is not null then bound_kind end as bound_kind)
        from held
    )
select
    case when is_total then '(all)' else group_name end as name,
    launch_count,
    bound_kind,
    ratio(overhead_ns, launch_count) as per_launch_ns,
    overhead_ns,
    compute_ns,
    bandwidth_ns,
    total_ns,
    ratio(total_flop * 1e9, overhead_ns) as overhead_ceiling_flop_per_s,
    ratio(total_flop * 1e9, compute_ns) as peak_flop_per_s,
    ratio(total_flop, compute_ns) * ratio(overhead_ns, launch_count) as least_flop,
    total_flop,
    total_bytes,
    case
        when bound_kind is not null
        then roof_reason(bounded.roof_ratio, nearest_name, timed_ns)
        when compute_ns is null or bandwidth_ns is null
        then coalesce(bound_reason, 'no peak for this device')
        when overhead_ns is null
        then 'launch overhead of this device unknown; give launch_overhead_ns'
        else coalesce(bound_reason, 'duration unknown')
    end as reason,
    nearest_name,
    possible_ratio(bounded.roof_ratio, 1) as roof_ratio,
    cast($fp16_convention as varchar) as fp16_convention,
    is_total
from bounded
where not is_total or launch_count is not null
order by is_total desc, group_number, total_ns desc nulls last, name, owner_id, launch_event
