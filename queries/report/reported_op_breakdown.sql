-- purpose = "Operators by time: share, operations, bytes, intensity, what bounds each, and the
-- share of time in memory-bound ones."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.2, Fig. 3 with its tables: operations of more than
-- 1 % of the time; docs/metrics.md, section Operators"
-- needs = ["op_stat"]
-- depends = ["reported_op_figures"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- by = {type = "VARCHAR", doc = "what a row is: op (of a program), type or class", default =
-- "op", choices = ["op", "type", "class"]}
-- op_kind = {type = "VARCHAR", doc = "hlo or framework, which have the same time; default: hlo if
-- the run has it", optional = true}
-- side = {type = "VARCHAR", doc = "device or host; default: device if the run has device
-- operators", optional = true}
-- scope = {type = "VARCHAR", doc = "scope of the shares: each device, each source (host, with
-- devices summed) or the run (everything summed)", default = "device", choices = ["device",
-- "source", "run"]}
-- min_share = {type = "DOUBLE", doc = "minimum share of a row, except for the five with the most
-- time; 0: all rows", default = 0.01}
-- zero_flop = {type = "BOOLEAN", doc = "include operators without operations or with unknown
-- figures", default = true}
-- ceiling = {type = "VARCHAR", doc = "compute peak: tensor_bf16, fp32 …; default: that of 16-bit
-- matrix operations, else the profiler's own, else fp32", optional = true}
-- [columns]
-- share_ratio = {type = "DOUBLE", doc = "self_ns / that of all operators of the device, source or
-- run; excludes idle time"}
-- name = {type = "VARCHAR", doc = "operator, type or class"}
-- op_class = {type = "VARCHAR", doc = "class; if several, the one with the most time"}
-- bound_kind = {type = "VARCHAR", doc = "latency (below 0.6 of both roofs), bandwidth (memory) or
-- compute; NULL without operations"}
-- nearest_name = {type = "VARCHAR", doc = "resource with the longer time at peak: compute
-- (intensity above the ridge point) or dram"}
-- roof_ratio = {type = "DOUBLE", doc = "time at peak / time: 1 is at the roof"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "operations / bytes; NULL without operations"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (peak x total_ns)"}
-- self_ns = {type = "BIGINT", doc = "time without nested operators"}
-- memory_bound_ratio = {type = "DOUBLE", doc = "total share of the time in memory-bound
-- operators; the same in each row"}
-- source_id = {type = "VARCHAR", doc = "source (host); NULL if summed"}
-- device_id = {type = "BIGINT", doc = "device; NULL if summed here or in the dump"}
-- reason = {type = "VARCHAR", doc = "why bound_kind is NULL or incomplete"}
-- total_flop = {type = "DOUBLE", doc = "operations, as reported"}
-- total_bytes = {type = "DOUBLE", doc = "bytes, as reported"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "operations / total_ns"}
-- achieved_bytes_per_s = {type = "DOUBLE", doc = "bytes / total_ns"}
-- occurrence_count = {type = "BIGINT", doc = "how often it ran"}
-- op_count = {type = "BIGINT", doc = "operators in the row"}
-- total_ns = {type = "BIGINT", doc = "time with nested operators"}
-- compute_bound_ratio = {type = "DOUBLE", doc = "total share of the time in compute-bound
-- operators"}
-- zero_flop_ratio = {type = "DOUBLE", doc = "total share of the time in operators without
-- operations, such as data formatting"}
-- unknown_ratio = {type = "DOUBLE", doc = "total share of the time in operators with unknown
-- bound"}
-- reported_bound_name = {type = "VARCHAR", doc = "the profiler's bound"}
-- category_name = {type = "VARCHAR", doc = "operator category of the profiler"}
-- program_name = {type = "VARCHAR", doc = "compiled program of the operator"}
-- bytes_basis = {type = "VARCHAR", doc = "kind of bytes: dram (device memory), accessed (all
-- memories), rate (x time) or mixed"}
-- device_name = {type = "VARCHAR", doc = "device"}
-- ceiling_name = {type = "VARCHAR", doc = "which compute peak"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "the peak"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "that of device memory"}
-- peak_basis = {type = "VARCHAR", doc = "source of the peaks: user, datasheet, computed, measured
-- or reported"}
-- op_kind = {type = "VARCHAR", doc = "hlo or framework"}
-- provenance_kind = {type = "VARCHAR", doc = "source of operations and bytes: reported by a cost
-- model"}
select
    share_ratio,
    group_name as name,
    op_class,
    bound_kind,
    nearest_name,
    roof_ratio,
    intensity_flop_per_byte,
    utilization_ratio,
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
    or row_number() over (partition by source_id, device_id order by self_ns desc nulls last, name)
    <= 5
order by source_id, device_id nulls first, self_ns desc nulls last, name, program_name
