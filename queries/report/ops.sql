-- purpose = "Framework operators with the time of their kernels and their work (by counters that
-- were joined, else modelled from shapes): share, intensity, rates, what bounds them."
-- source = "kernels by the operator that launched them; operations and least bytes by function
-- op_model; docs/metrics.md, section Operators of a timeline"
-- needs = ["op_call"]
-- depends = ["attributed_op_figures"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M (numbers, both included)", default
-- = "all"}
-- by = {type = "VARCHAR", doc = "what a row stands for: name, shape (name with shapes and types
-- of the arguments) or family", default = "name", choices = ["name", "shape", "family"]}
-- provenance = {type = "VARCHAR", doc = "of operations and bytes: measured (by counters that were
-- joined), modelled or best: measured where all kernels have counters, else modelled", default =
-- "best", choices = ["best", "measured", "modelled"]}
-- [columns]
-- name = {type = "VARCHAR", doc = "operator or family; (no operator): the rest"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations of its kernels, copies and sets; of
-- basis host operators host_ns"}
-- share_ratio = {type = "DOUBLE", doc = "total_ns / that of all rows"}
-- input_dims = {type = "VARCHAR", doc = "by shape: shapes of the arguments, as recorded"}
-- call_count = {type = "BIGINT", doc = "calls that launched any of them, of host operators all;
-- NULL where none is known"}
-- bound_kind = {type = "VARCHAR", doc = "latency (below 0.6 of both roofs), bandwidth (of memory)
-- or compute; NULL without operations"}
-- roof_ratio = {type = "DOUBLE", doc = "the longer of both times at peak / time, where both are
-- known: 1 is on the roof"}
-- nearest_name = {type = "VARCHAR", doc = "the resource whose time at peak is longer: compute or
-- dram"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "operations / least bytes; NULL without
-- operations"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (the peak ceiling_name x time)"}
-- bandwidth_ratio = {type = "DOUBLE", doc = "least bytes / (peak of device memory x time)"}
-- reason = {type = "VARCHAR", doc = "why a figure is NULL or not of all of the time (the reason
-- of the most time left out), or above its peak"}
-- kernel_count = {type = "BIGINT", doc = "kernels"}
-- mean_ns = {type = "DOUBLE", doc = "time of these calls / call_count"}
-- host_ns = {type = "BIGINT", doc = "time of the calls on the host, without operators in them
-- that have work of their own"}
-- total_flop = {type = "DOUBLE", doc = "operations of the calls, where they are known"}
-- total_bytes = {type = "DOUBLE", doc = "least bytes that they read and write, where they are
-- known"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "operations / total_ns, where they are known"}
-- achieved_bytes_per_s = {type = "DOUBLE", doc = "least bytes / total_ns, where they are known"}
-- known_ratio = {type = "DOUBLE", doc = "share of total_ns whose operations and bytes are both
-- known"}
-- ceiling_name = {type = "VARCHAR", doc = "which compute peak, by what it computes in"}
-- family_name = {type = "VARCHAR", doc = "family of the operator: gemm, convolution …; NULL where
-- it has no model"}
-- kernel_ns = {type = "BIGINT", doc = "sum of the durations of the kernels alone"}
-- copy_count = {type = "BIGINT", doc = "copies and sets"}
-- input_types = {type = "VARCHAR", doc = "by shape: their types"}
-- provenance_kind = {type = "VARCHAR", doc = "of operations and bytes: measured (by joined
-- counters), modelled or mixed"}
-- basis = {type = "VARCHAR", doc = "whose time total_ns is: kernels (with copies and sets), of a
-- file without kernels host operators, or mixed"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x time), of the
-- kernels that have counters (Zhu 2018, eq. 2); NULL without"}
select
    coalesce(group_name, '(no operator)') as name,
    total_ns,
    share_ratio,
    input_dims,
    call_count,
    bound_kind,
    roof_ratio,
    nearest_name,
    intensity_flop_per_byte,
    utilization_ratio,
    bandwidth_ratio,
    reason,
    kernel_count,
    mean_ns,
    host_ns,
    total_flop,
    total_bytes,
    achieved_flop_per_s,
    achieved_bytes_per_s,
    known_ratio,
    ceiling_name,
    family_name,
    kernel_ns,
    copy_count,
    input_types,
    provenance_kind,
    basis,
    fp32_utilization_ratio
from attributed_op_figures($run_id, $phase, $by, null, $provenance)
order by total_ns desc nulls last, name, input_dims, input_types
