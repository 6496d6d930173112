-- purpose = "Framework operators with their kernel time and work (joined counters, else modeled
-- from shapes): share, intensity, rates and what bounds them."
-- source = "kernels by the operator that launched them; operations and minimum bytes by function
-- op_model; docs/metrics.md, section Operators of a timeline"
-- needs = ["op_call"]
-- depends = ["attributed_op_figures"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M (step numbers, inclusive)",
-- default = "all"}
-- by = {type = "VARCHAR", doc = "what a row is: name, shape (name with argument shapes and types)
-- or family", default = "name", choices = ["name", "shape", "family"]}
-- provenance = {type = "VARCHAR", doc = "source of operations and bytes: measured (joined
-- counters), modelled, or best (measured if all kernels have counters, else modelled)", default =
-- "best", choices = ["best", "measured", "modelled"]}
-- [columns]
-- name = {type = "VARCHAR", doc = "operator or family; (no operator): everything else"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations of its kernels, copies and memsets;
-- host_ns for basis host operators"}
-- share_ratio = {type = "DOUBLE", doc = "total_ns / total_ns of all rows"}
-- input_dims = {type = "VARCHAR", doc = "for by=shape: argument shapes as recorded"}
-- call_count = {type = "BIGINT", doc = "calls that launched work; for host operators all calls;
-- NULL if unknown"}
-- bound_kind = {type = "VARCHAR", doc = "latency (below 0.6 of both roofs), bandwidth (memory) or
-- compute; NULL without operations"}
-- roof_ratio = {type = "DOUBLE", doc = "longer time at peak / time, over calls with both known; 1
-- is at the roof"}
-- nearest_name = {type = "VARCHAR", doc = "resource with the longer time at peak: compute or dram"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "operations / minimum bytes; NULL without
-- operations"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (peak of ceiling_name x time)"}
-- bandwidth_ratio = {type = "DOUBLE", doc = "minimum bytes / (peak of device memory x time)"}
-- reason = {type = "VARCHAR", doc = "why a figure is NULL, incomplete (the reason with the most
-- time) or above its peak"}
-- kernel_count = {type = "BIGINT", doc = "kernels"}
-- mean_ns = {type = "DOUBLE", doc = "time of these calls / call_count"}
-- host_ns = {type = "BIGINT", doc = "host time of the calls, without nested operators that have
-- their own work"}
-- total_flop = {type = "DOUBLE", doc = "known operations of the calls"}
-- total_bytes = {type = "DOUBLE", doc = "minimum bytes read and written, if known"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "operations / total_ns, over calls with known
-- operations"}
-- achieved_bytes_per_s = {type = "DOUBLE", doc = "minimum bytes / total_ns, over calls with known
-- bytes"}
-- known_ratio = {type = "DOUBLE", doc = "share of total_ns with known operations and bytes"}
-- ceiling_name = {type = "VARCHAR", doc = "compute peak of its precision"}
-- family_name = {type = "VARCHAR", doc = "operator family: matmul, convolution …; NULL without a
-- model"}
-- kernel_ns = {type = "BIGINT", doc = "sum of the kernel durations"}
-- copy_count = {type = "BIGINT", doc = "copies and memsets"}
-- input_types = {type = "VARCHAR", doc = "by shape: their types"}
-- provenance_kind = {type = "VARCHAR", doc = "source of operations and bytes: measured (joined
-- counters), modelled or mixed"}
-- basis = {type = "VARCHAR", doc = "source of total_ns: kernels (with copies and memsets), host
-- operators (file without kernels) or mixed"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x time), over
-- kernels with counters (Zhu 2018, eq. 2); NULL without counters"}
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
