-- purpose = "One row per application: utilization, kinds of work, what bounds it, and how much of
-- that is known."
-- source = "Zhu 2018 (TBD), eq. 2; Wang Y. 2020 (Time-Based Roofline), sect. II to IV"
-- needs = ["kernel_counter"]
-- depends = ["kernel_group"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all runs", optional = true}
-- by = {type = "VARCHAR", doc = "what a row is: name (a kernel), launch, run or label (one of its
-- values)", default = "run", choices = ["name", "launch", "run", "label"]}
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
-- name = {type = "VARCHAR", doc = "run, kernel or label value"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- kernel_count = {type = "BIGINT", doc = "kernels with different names"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x time), over
-- launches with both known"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "all operations / bytes of device memory,
-- over launches with both known"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "all operations / time, over launches with known
-- operations"}
-- achieved_bytes_per_s = {type = "DOUBLE", doc = "bytes of device memory / time, over launches
-- with known bytes"}
-- bound_kind = {type = "VARCHAR", doc = "overhead, latency (far from every roof), bandwidth or
-- compute; NULL if a time is unknown"}
-- roof_ratio = {type = "DOUBLE", doc = "longest time at peak / time; NULL unless every duration
-- is known"}
-- nearest_name = {type = "VARCHAR", doc = "resource with the longest time at peak: compute, dram,
-- l2 or l1; far from the roof, memory throughput or compute throughput if the report says that it
-- is busy"}
-- tensor_share_ratio = {type = "DOUBLE", doc = "tensor operations / all operations"}
-- zero_ai_launch_ratio = {type = "DOUBLE", doc = "share of launches measured without
-- floating-point operations; 0 only if every launch was counted"}
-- zero_ai_time_ratio = {type = "DOUBLE", doc = "share of the time of those launches"}
-- unknown_time_ratio = {type = "DOUBLE", doc = "share of the time of launches with incomplete
-- operations"}
-- overhead_time_ratio = {type = "DOUBLE", doc = "launches x time per launch / time; NULL unless
-- every duration is known"}
-- total_flop = {type = "DOUBLE", doc = "all known operations"}
-- other_flop = {type = "DOUBLE", doc = "total of the other FP16 convention: packed for
-- arithmetic, arithmetic for packed and scalar"}
-- total_bytes = {type = "DOUBLE", doc = "known bytes of device memory"}
-- occupancy_ratio = {type = "DOUBLE", doc = "achieved occupancy, time-weighted mean"}
-- compute_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of compute peak,
-- time-weighted mean"}
-- memory_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of memory peak,
-- time-weighted mean"}
-- reason = {type = "VARCHAR", doc = "what is missing to determine the bound, for the longest
-- launch"}
-- missing_metrics = {type = "VARCHAR", doc = "if operations are incomplete: metrics to add to the
-- profiler's --metrics"}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic, packed or scalar"}
select
    group_name as name,
    launch_count,
    kernel_count,
    total_ns,
    fp32_utilization_ratio,
    intensity_flop_per_byte,
    achieved_flop_per_s,
    achieved_bytes_per_s,
    bound_kind,
    roof_ratio,
    nearest_name,
    tensor_share_ratio,
    -- no launch that is measured to do nothing is none only where every launch was counted
    case
        when zero_launch_count > 0 then ratio(zero_launch_count, launch_count) when is_known then 0
    end as zero_ai_launch_ratio,
    case
        when zero_launch_count > 0
        then ratio(zero_ns, total_ns)
        when is_known
        then ratio(0, total_ns)
    end as zero_ai_time_ratio,
    unknown_time_ratio,
    overhead_time_ratio,
    total_flop,
    other_flop,
    total_bytes,
    occupancy_ratio,
    compute_throughput_ratio,
    memory_throughput_ratio,
    bound_reason as reason,
    missing_metrics,
    cast($fp16_convention as varchar) as fp16_convention
from
    kernel_group(
        $run_id, $by, $label, $fp16_convention, 'own', 'dram', $launch_overhead_ns, $latency_below
    )
order by
    group_number,
    case when $by <> 'label' then total_ns end desc nulls last,
    name,
    owner_id,
    launch_event
