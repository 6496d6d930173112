-- purpose = "Where to look: kernels by time, with utilization, operations per byte, what bounds
-- them and how near to its roof each is."
-- source = "Zhu 2018 (TBD), eq. 2; Wang Y. 2020 (Time-Based Roofline), eq. 1 and sect. II"
-- needs = ["kernel_counter"]
-- depends = ["kernel_group"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a row stands for: name (a kernel), launch, run or label (a
-- value of one)", default = "name", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "with by=label: which label, e.g. batch", optional = true}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions that are work, not
-- moves or conversions, each two operations; packed: all of them (the vendor); scalar: all, each
-- one operation (Wang Y. 2020)", default = "arithmetic", choices = ["arithmetic", "packed",
-- "scalar"]}
-- ceiling = {type = "VARCHAR", doc = "the peak that utilization is against; own: each launch is
-- held to that of most of its operations; fp32 as in Zhu 2018", default = "own", choices =
-- ["own", "fp32", "fp64", "fp16", "tensor_fp64", "tensor_tf32", "tensor_bf16", "tensor_fp16",
-- "tensor_fp8", "tensor_fp4", "tensor_int8"]}
-- level = {type = "VARCHAR", doc = "the memory that intensity is at", default = "dram", choices =
-- ["dram", "l2", "l1"]}
-- below_average = {type = "BOOLEAN", doc = "only those whose utilization is below that of all
-- kernels together", default = false}
-- latency_below = {type = "DOUBLE", doc = "below this share of every roof it is latency that
-- bounds", default = 0.6}
-- top = {type = "BIGINT", doc = "how many; all if not given", optional = true}
-- [columns]
-- share_ratio = {type = "DOUBLE", doc = "total_ns / time of all kernels"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (peak x time), of the launches where
-- both are known"}
-- name = {type = "VARCHAR", doc = "kernel, or run or value of the label"}
-- bound_kind = {type = "VARCHAR", doc = "overhead, latency (far from every roof), bandwidth or
-- compute; NULL where a time is not known"}
-- roof_ratio = {type = "DOUBLE", doc = "time at peak / time: how near to the roof; above 1 the
-- data or the peak is wrong, or the clock above its data sheet; NULL unless every duration is
-- known"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- nearest_name = {type = "VARCHAR", doc = "the resource whose time at peak is longest: compute,
-- dram, l2 or l1; where that is far, memory throughput or compute throughput if the report itself
-- says that it is busy"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- ceiling_name = {type = "VARCHAR", doc = "which peak utilization is against; mixed where
-- launches have several"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x time), as Zhu
-- 2018 has it"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "all operations / bytes at the level, of the
-- launches where both are known"}
-- mean_ns = {type = "DOUBLE", doc = "mean duration"}
-- reason = {type = "VARCHAR", doc = "why utilization is NULL; that of the longest launch"}
-- bound_reason = {type = "VARCHAR", doc = "why bound_kind is NULL; that of the longest launch"}
-- missing_metrics = {type = "VARCHAR", doc = "where operations are not all known: what the
-- profiler's --metrics has to name beside"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "all operations / time, of the launches where
-- they are known"}
-- total_flop = {type = "DOUBLE", doc = "all operations that are known, FP16 by its convention"}
-- other_flop = {type = "DOUBLE", doc = "what the other convention gives: packed beside
-- arithmetic, arithmetic beside packed and scalar"}
-- total_bytes = {type = "DOUBLE", doc = "bytes at the level"}
-- occupancy_ratio = {type = "DOUBLE", doc = "achieved occupancy, mean over the time"}
-- compute_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: compute,
-- mean over the time"}
-- memory_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: memory, mean
-- over the time"}
-- average_ratio = {type = "DOUBLE", doc = "utilization over all kernels"}
-- known_time_ratio = {type = "DOUBLE", doc = "share of the time for which utilization is known"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "the peak, mean over the time"}
-- peak_source = {type = "VARCHAR", doc = "where it comes from"}
-- level_name = {type = "VARCHAR", doc = "which memory"}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic, packed or scalar"}
-- launch_index = {type = "BIGINT", doc = "with by=launch: the profiler's own number"}
-- event_id = {type = "BIGINT", doc = "with by=launch: place in the source"}
select
    share_ratio,
    utilization_ratio,
    group_name as name,
    bound_kind,
    roof_ratio,
    total_ns,
    nearest_name,
    launch_count,
    ceiling_name,
    fp32_utilization_ratio,
    intensity_flop_per_byte,
    mean_ns,
    reason,
    bound_reason,
    missing_metrics,
    achieved_flop_per_s,
    total_flop,
    other_flop,
    total_bytes,
    occupancy_ratio,
    compute_throughput_ratio,
    memory_throughput_ratio,
    average_ratio,
    known_time_ratio,
    peak_flop_per_s,
    peak_source,
    cast($level as varchar) as level_name,
    cast($fp16_convention as varchar) as fp16_convention,
    launch_index,
    launch_event as event_id
from kernel_group($run_id, $by, $label, $fp16_convention, $ceiling, $level, null, $latency_below)
where not $below_average or is_below_average
order by
    case when $by <> 'label' then total_ns end desc nulls last,
    group_number,
    name,
    owner_id,
    launch_event
limit $top
