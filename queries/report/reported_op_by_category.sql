-- purpose = "Operators by the profiler's category, with time, work and what bounds them."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.2: input fusion, loop fusion, data formatting …;
-- docs/metrics.md, section Operators"
-- needs = ["op_stat"]
-- depends = ["reported_op_figures"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- op_kind = {type = "VARCHAR", doc = "hlo or framework (then by type), which have the same time;
-- default: hlo if the run has it", optional = true}
-- side = {type = "VARCHAR", doc = "device or host; default: device if the run has device
-- operators", optional = true}
-- scope = {type = "VARCHAR", doc = "scope of the shares: each device, each source (host, with
-- devices summed) or the run (everything summed)", default = "device", choices = ["device",
-- "source", "run"]}
-- [columns]
-- category_name = {type = "VARCHAR", doc = "category; type if an operator has none"}
-- op_class = {type = "VARCHAR", doc = "class; if several, the one with the most time"}
-- share_ratio = {type = "DOUBLE", doc = "self_ns / that of all operators of the device, source or
-- run"}
-- self_ns = {type = "BIGINT", doc = "time without nested operators"}
-- op_count = {type = "BIGINT", doc = "operators"}
-- occurrence_count = {type = "BIGINT", doc = "how often they ran"}
-- total_flop = {type = "DOUBLE", doc = "operations, as reported"}
-- total_bytes = {type = "DOUBLE", doc = "bytes, as reported"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "operations / bytes; NULL without operations"}
-- bound_kind = {type = "VARCHAR", doc = "latency (below 0.6 of both roofs), bandwidth (memory) or
-- compute; NULL without operations"}
-- nearest_name = {type = "VARCHAR", doc = "resource with the longer time at peak: compute
-- (intensity above the ridge point) or dram"}
-- roof_ratio = {type = "DOUBLE", doc = "time at peak / time: 1 is at the roof"}
-- source_id = {type = "VARCHAR", doc = "source (host); NULL if summed"}
-- device_id = {type = "BIGINT", doc = "device; NULL if summed"}
-- reason = {type = "VARCHAR", doc = "why bound_kind is NULL or incomplete"}
-- op_kind = {type = "VARCHAR", doc = "hlo or framework"}
select
    group_name as category_name,
    op_class,
    share_ratio,
    self_ns,
    op_count,
    occurrence_count,
    total_flop,
    total_bytes,
    intensity_flop_per_byte,
    bound_kind,
    nearest_name,
    roof_ratio,
    source_id,
    device_id,
    reason,
    op_kind
from reported_op_figures($run_id, $op_kind, $side, 'category', $scope, null)
order by source_id, device_id nulls first, self_ns desc nulls last, category_name
