-- purpose = "The kernels that take the longest of those whose utilization is below the average:
-- where the device is wasted."
-- source = "Zhu 2018 (TBD), Tables V and VI, eq. 2"
-- needs = ["kernel_counter"]
-- depends = ["kernel_group"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a row stands for: name (a kernel), launch, run or label (a
-- value of one)", default = "name", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "with by=label: which label, e.g. batch", optional = true}
-- ceiling = {type = "VARCHAR", doc = "the peak that utilization is against; own: each launch is
-- held to that of most of its operations; fp32 as in Zhu 2018", default = "own", choices =
-- ["own", "fp32", "fp64", "fp16", "tensor_fp64", "tensor_tf32", "tensor_bf16", "tensor_fp16",
-- "tensor_fp8", "tensor_fp4", "tensor_int8"]}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions that are work, not
-- moves or conversions, each two operations; packed: all of them (the vendor); scalar: all, each
-- one operation (Wang Y. 2020)", default = "arithmetic", choices = ["arithmetic", "packed",
-- "scalar"]}
-- latency_below = {type = "DOUBLE", doc = "below this share of every roof it is latency that
-- bounds", default = 0.6}
-- top = {type = "BIGINT", doc = "how many", default = 5}
-- [columns]
-- share_ratio = {type = "DOUBLE", doc = "total_ns / time of all kernels"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (peak x time), of the launches where
-- both are known"}
-- name = {type = "VARCHAR", doc = "kernel, or run or value of the label"}
-- bound_kind = {type = "VARCHAR", doc = "overhead, latency (far from every roof), bandwidth or
-- compute; NULL where a time is not known"}
-- roof_ratio = {type = "DOUBLE", doc = "time at peak / time: how near to the nearest of its
-- roofs, memory included"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- speedup_bound = {type = "DOUBLE", doc = "1 / utilization: how much faster it can get at most,
-- were it bound by that peak alone"}
-- ceiling_name = {type = "VARCHAR", doc = "which peak; mixed where launches have several"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- total_flop = {type = "DOUBLE", doc = "operations of that ceiling's kind"}
-- average_ratio = {type = "DOUBLE", doc = "utilization over all kernels: what the rows are below"}
-- known_time_ratio = {type = "DOUBLE", doc = "share of the time for which utilization is known"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "the peak, mean over the time"}
-- peak_source = {type = "VARCHAR", doc = "where it comes from"}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic, packed or scalar"}
select
    share_ratio,
    utilization_ratio,
    group_name as name,
    bound_kind,
    roof_ratio,
    total_ns,
    ratio(1, utilization_ratio) as speedup_bound,
    ceiling_name,
    launch_count,
    work_flop as total_flop,
    average_ratio,
    known_time_ratio,
    peak_flop_per_s,
    peak_source,
    cast($fp16_convention as varchar) as fp16_convention
from kernel_group($run_id, $by, $label, $fp16_convention, $ceiling, 'dram', null, $latency_below)
where is_below_average
order by total_ns desc, name, owner_id, launch_event
limit $top
