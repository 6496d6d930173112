-- purpose = "Framework operators with their kernel time and work (joined counters, else modeled
-- from shapes): share, intensity, rates and what bounds them."
-- source = "kernels by the operator that launched them; operations and minimum bytes by function
-- op_model; docs/metrics.md, section Operators of a timeline"
-- topic = "operators"
-- needs = ["op_call or attribution"]
-- depends = ["attributed_op_figures"]
-- parameters = "run_id phase by provenance-kernels"
-- by = {doc = "what a row is: name, shape (name with argument shapes and types) or family",
-- choices = ["name", "shape", "family"]}
-- columns = "name total_ns share_ratio input_dims call_count-work bound_kind roof_ratio-known
-- nearest_name intensity_flop_per_byte utilization_ratio bandwidth_ratio reason kernel_count
-- mean_ns-calls host_ns total_flop total_bytes-minimum achieved_flop_per_s achieved_bytes_per_s
-- known_ratio ceiling_name-lowest family_name kernel_ns copy_count input_types provenance_kind
-- basis fp32_utilization_ratio-counters least_utilization_ratio"
-- answer = "total_ns share_ratio bound_kind roof_ratio"
-- name = "operator or family; (no operator): everything else"
-- total_ns = "sum of the durations of its kernels, copies and memsets; host_ns for basis host
-- operators"
-- utilization_ratio = "operations / (peak of ceiling_name x time)"
-- reason = "why a figure is NULL, incomplete (the reason with the most time) or a range"
-- basis = "source of total_ns: kernels (with copies and memsets), host operators (file without
-- kernels) or mixed"
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
    fp32_utilization_ratio,
    least_utilization_ratio
from attributed_op_figures($run_id, $phase, $by, null, $provenance)
order by total_ns desc nulls last, name, input_dims, input_types
