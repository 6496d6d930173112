-- purpose = "Whether launches bound kernels: N launches of L each, against the time of the work
-- at peak, and the minimum work per launch."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II and III: overhead-bound, total FLOPs /
-- (N L), peak x L"
-- needs = ["kernel_counter"]
-- depends = ["grouped_launch", "mean_over", "roof_of", "busy_what", "whole_sum"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all runs", optional = true}
-- by = {type = "VARCHAR", doc = "what a row is: name (a kernel), launch, run or label (one of its
-- values)", default = "name", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "label for by=label, e.g. batch", optional = true}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions except moves and
-- conversions, two operations each; packed: all of them, two operations each (the vendor's rule);
-- scalar: all of them, one operation each (Wang Y. 2020)", default = "arithmetic", choices =
-- ["arithmetic", "packed", "scalar"]}
-- latency_below = {type = "DOUBLE", doc = "share of every roof below which a kernel is
-- latency-bound", default = 0.6}
-- launch_overhead_ns = {type = "DOUBLE", doc = "time of one launch; default: that of the device",
-- optional = true}
-- [columns]
-- name = {type = "VARCHAR", doc = "kernel, run or label value; (all) for all"}
-- launch_count = {type = "BIGINT", doc = "N: launches"}
-- bound_kind = {type = "VARCHAR", doc = "overhead, latency (far from every roof), bandwidth or
-- compute; NULL if a time is unknown"}
-- per_launch_ns = {type = "DOUBLE", doc = "L: time of one launch"}
-- overhead_ns = {type = "DOUBLE", doc = "N x L"}
-- compute_ns = {type = "DOUBLE", doc = "time of the operations at peak"}
-- bandwidth_ns = {type = "DOUBLE", doc = "time of the device memory traffic at peak"}
-- total_ns = {type = "BIGINT", doc = "measured time: sum of the durations"}
-- overhead_ceiling_flop_per_s = {type = "DOUBLE", doc = "operations / (N x L): maximum rate
-- allowed by launches"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "operations / compute_ns: peak of this mix of
-- precisions"}
-- least_flop = {type = "DOUBLE", doc = "peak x L: operations per launch above which it is not
-- overhead-bound"}
-- total_flop = {type = "DOUBLE", doc = "operations, FP16 by its convention"}
-- total_bytes = {type = "DOUBLE", doc = "bytes to and from device memory"}
-- reason = {type = "VARCHAR", doc = "why bound_kind is NULL"}
-- nearest_name = {type = "VARCHAR", doc = "resource with the longest time at peak: compute, dram,
-- l2 or l1; far from the roof, memory throughput or compute throughput if the report says that it
-- is busy"}
-- roof_ratio = {type = "DOUBLE", doc = "overhead time / total_ns; NULL unless every duration is
-- known"}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic, packed or scalar"}
-- is_total = {type = "BOOLEAN", doc = "the row of all of them"}
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
            arg_max(bound_reason, coalesce(dur_ns, 0)) as bound_reason,
            any_value(group_number) as group_number
        from grouped_launch($run_id, $by, $label, 'fp32', $fp16_convention)
        group by grouping sets ((group_name, owner_id, launch_event), ())
    ),
    held as (
        select
            *,
            unnest(
                roof_of(
                    compute_ns,
                    bandwidth_ns,
                    l2_ns,
                    l1_ns,
                    overhead_ns,
                    case when is_timed then total_ns end,
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
        then null
        when compute_ns is null or bandwidth_ns is null
        then coalesce(bound_reason, 'no peak for this device')
        when overhead_ns is null
        then 'launch overhead of this device not known; give launch_overhead_ns'
        else coalesce(bound_reason, 'duration not known')
    end as reason,
    nearest_name,
    roof_ratio,
    cast($fp16_convention as varchar) as fp16_convention,
    is_total
from bounded
where not is_total or launch_count is not null
order by is_total desc, group_number, total_ns desc nulls last, name, owner_id, launch_event
