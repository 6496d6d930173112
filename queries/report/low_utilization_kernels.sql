-- purpose = "Longest kernels with utilization below the average."
-- source = "Zhu 2018 (TBD), Tables V and VI, eq. 2"
-- needs = ["kernel_counter"]
-- depends = ["kernel_group"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all runs", optional = true}
-- by = {type = "VARCHAR", doc = "what a row is: name (a kernel), launch, run or label (one of its
-- values)", default = "name", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "label for by=label, e.g. batch", optional = true}
-- ceiling = {type = "VARCHAR", doc = "peak for utilization; own: for each launch, the peak of
-- most of its operations; fp32: as in Zhu 2018", default = "own", choices = ["own", "fp32",
-- "fp64", "fp16", "tensor_fp64", "tensor_tf32", "tensor_bf16", "tensor_fp16", "tensor_fp8",
-- "tensor_fp4", "tensor_int8"]}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions except moves and
-- conversions, two operations each; packed: all of them, two operations each (the vendor's rule);
-- scalar: all of them, one operation each (Wang Y. 2020)", default = "arithmetic", choices =
-- ["arithmetic", "packed", "scalar"]}
-- latency_below = {type = "DOUBLE", doc = "share of every roof below which a kernel is
-- latency-bound", default = 0.6}
-- top = {type = "BIGINT", doc = "how many", default = 5}
-- [columns]
-- share_ratio = {type = "DOUBLE", doc = "total_ns / time of all kernels"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (peak x time), over launches with
-- both known"}
-- name = {type = "VARCHAR", doc = "kernel, run or label value"}
-- bound_kind = {type = "VARCHAR", doc = "overhead, latency (far from every roof), bandwidth or
-- compute; NULL if a time is unknown"}
-- roof_ratio = {type = "DOUBLE", doc = "time at peak / time for the nearest roof, including
-- memory"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- speedup_bound = {type = "DOUBLE", doc = "1 / utilization: maximum speedup if bound only by that
-- peak"}
-- ceiling_name = {type = "VARCHAR", doc = "peak; mixed if launches have several"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- total_flop = {type = "DOUBLE", doc = "operations of that ceiling's kind"}
-- average_ratio = {type = "DOUBLE", doc = "utilization over all kernels; rows are below it"}
-- known_time_ratio = {type = "DOUBLE", doc = "share of the time with known utilization"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "peak, time-weighted mean"}
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
