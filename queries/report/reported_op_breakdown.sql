-- purpose = "Operators by time: share, operations, bytes, intensity, what bounds each, and the
-- share of time in memory-bound ones."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.2, Fig. 3 with its tables: operations of more than
-- 1 % of the time; docs/metrics.md, section Operators"
-- topic = "operators"
-- needs = ["op_stat"]
-- depends = ["reported_op_figures"]
-- parameters = "run_id by op_kind side scope min_share zero_flop ceiling"
-- by = {doc = "what a row is: op (of a program), type or class", default = "op", choices = ["op",
-- "type", "class"]}
-- min_share = {type = "DOUBLE", doc = "minimum share of a row, except for the five with the most
-- time; 0: all rows", default = 0.01}
-- zero_flop = {type = "BOOLEAN", doc = "include operators without operations or with unknown
-- figures", default = true}
-- columns = "share_ratio name op_class-most bound_kind nearest_name roof_ratio
-- intensity_flop_per_byte utilization_ratio least_utilization_ratio self_ns memory_bound_ratio
-- source_id-summed device_id-summed reason-bound total_flop-reported total_bytes-reported
-- achieved_flop_per_s achieved_bytes_per_s occurrence_count op_count total_ns compute_bound_ratio
-- zero_flop_ratio unknown_ratio reported_bound_name category_name program_name bytes_basis
-- device_name ceiling_name peak_flop_per_s peak_bytes_per_s peak_basis op_kind
-- provenance_kind-reported"
-- answer = "share_ratio bound_kind roof_ratio self_ns"
-- share_ratio = "self_ns / that of all operators of the device, source or run; excludes idle time"
-- name = "operator, type or class"
-- utilization_ratio = "operations / (peak x total_ns)"
-- achieved_flop_per_s = "operations / total_ns"
-- achieved_bytes_per_s = "bytes / total_ns"
-- total_ns = "time with nested operators"
select
    share_ratio,
    group_name as name,
    op_class,
    bound_kind,
    nearest_name,
    roof_ratio,
    intensity_flop_per_byte,
    utilization_ratio,
    least_utilization_ratio,
    self_ns,
    memory_bound_ratio,
    source_id,
    device_id,
    reason,
    total_flop,
    total_bytes,
    achieved_flop_per_s,
    achieved_bytes_per_s,
    occurrence_count,
    op_count,
    total_ns,
    compute_bound_ratio,
    zero_flop_ratio,
    unknown_ratio,
    reported_bound_name,
    category_name,
    program_name,
    bytes_basis,
    device_name,
    ceiling_name,
    peak_flop_per_s,
    peak_bytes_per_s,
    peak_basis,
    op_kind,
    'reported' as provenance_kind
from reported_op_figures($run_id, $op_kind, $side, $by, $scope, $ceiling)
where $zero_flop or total_flop > 0
-- never none: of many operators each can be small
qualify
    share_ratio > $min_share
    or $min_share <= 0
    or row_number() over (
        partition by source_id, device_id order by self_ns desc nulls last, name, program_name
    )
    <= 5
order by source_id, device_id nulls first, self_ns desc nulls last, name, program_name
