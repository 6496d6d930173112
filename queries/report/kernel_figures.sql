-- purpose = "Kernels by time, with utilization, operational intensity, what bounds them and their
-- distance to the roof."
-- source = "Zhu 2018 (TBD), eq. 2; Wang Y. 2020 (Time-Based Roofline), eq. 1 and sect. II"
-- needs = ["kernel_counter"]
-- depends = ["kernel_group"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all runs", optional = true}
-- by = {type = "VARCHAR", doc = "what a row is: name (a kernel), launch, run or label (one of its
-- values)", default = "name", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "label for by=label, e.g. batch", optional = true}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions except moves and
-- conversions, two operations each; packed: all of them, two operations each (the vendor's rule);
-- scalar: all of them, one operation each (Wang Y. 2020)", default = "arithmetic", choices =
-- ["arithmetic", "packed", "scalar"]}
-- ceiling = {type = "VARCHAR", doc = "peak for utilization; own: for each launch, the peak of
-- most of its operations; fp32: as in Zhu 2018", default = "own", choices = ["own", "fp32",
-- "fp64", "fp16", "tensor_fp64", "tensor_tf32", "tensor_bf16", "tensor_fp16", "tensor_fp8",
-- "tensor_fp4", "tensor_int8"]}
-- level = {type = "VARCHAR", doc = "memory level of intensity", default = "dram", choices =
-- ["dram", "l2", "l1"]}
-- below_average = {type = "BOOLEAN", doc = "only kernels whose utilization is below that of all
-- kernels together", default = false}
-- latency_below = {type = "DOUBLE", doc = "share of every roof below which a kernel is
-- latency-bound", default = 0.6}
-- top = {type = "BIGINT", doc = "number of rows; default: all", optional = true}
-- [columns]
-- share_ratio = {type = "DOUBLE", doc = "total_ns / time of all kernels"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (peak x time), over launches with
-- both known"}
-- name = {type = "VARCHAR", doc = "kernel, run or label value"}
-- bound_kind = {type = "VARCHAR", doc = "overhead, latency (far from every roof), bandwidth or
-- compute; NULL if a time is unknown"}
-- roof_ratio = {type = "DOUBLE", doc = "time at peak / time: 1 is at the roof; above 1 the data
-- or the peak is wrong, or the clock is above its data sheet; NULL unless every duration is
-- known"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- nearest_name = {type = "VARCHAR", doc = "resource with the longest time at peak: compute, dram,
-- l2 or l1; far from the roof, memory throughput or compute throughput if the report says that it
-- is busy"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- ceiling_name = {type = "VARCHAR", doc = "peak for utilization; mixed if launches have several"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x time), as in
-- Zhu 2018"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "all operations / bytes at the level, over
-- launches with both known"}
-- mean_ns = {type = "DOUBLE", doc = "mean duration"}
-- reason = {type = "VARCHAR", doc = "why utilization is NULL, for the longest launch"}
-- bound_reason = {type = "VARCHAR", doc = "why bound_kind is NULL, for the longest launch"}
-- missing_metrics = {type = "VARCHAR", doc = "if operations are incomplete: metrics to add to the
-- profiler's --metrics"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "all operations / time, over launches with known
-- operations"}
-- total_flop = {type = "DOUBLE", doc = "all known operations, FP16 by its convention"}
-- other_flop = {type = "DOUBLE", doc = "total of the other FP16 convention: packed for
-- arithmetic, arithmetic for packed and scalar"}
-- total_bytes = {type = "DOUBLE", doc = "bytes at the level"}
-- occupancy_ratio = {type = "DOUBLE", doc = "achieved occupancy, time-weighted mean"}
-- compute_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of compute peak,
-- time-weighted mean"}
-- memory_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of memory peak,
-- time-weighted mean"}
-- average_ratio = {type = "DOUBLE", doc = "utilization over all kernels"}
-- known_time_ratio = {type = "DOUBLE", doc = "share of the time with known utilization"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "peak, time-weighted mean"}
-- peak_source = {type = "VARCHAR", doc = "where it comes from"}
-- level_name = {type = "VARCHAR", doc = "which memory"}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic, packed or scalar"}
-- launch_index = {type = "BIGINT", doc = "for by=launch: the profiler's own number"}
-- event_id = {type = "BIGINT", doc = "for by=launch: position in the source"}
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
