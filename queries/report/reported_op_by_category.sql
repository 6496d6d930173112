-- purpose = "Operators by the category that the profiler gives them, with time, work and what
-- bounds them."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.2: input fusion, loop fusion, data formatting …;
-- docs/metrics.md, section Operators"
-- needs = ["op_stat"]
-- depends = ["reported_op_figures"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- op_kind = {type = "VARCHAR", doc = "hlo or framework (by type then), whose time is the same; if
-- not given, hlo where the run has it", optional = true}
-- side = {type = "VARCHAR", doc = "device or host; if not given, device where the run has
-- operators of one", optional = true}
-- scope = {type = "VARCHAR", doc = "what shares are of: each device, each source (host, its
-- devices added up) or the run (everything added up)", default = "device", choices = ["device",
-- "source", "run"]}
-- [columns]
-- category_name = {type = "VARCHAR", doc = "category; of operators that have none their type"}
-- op_class = {type = "VARCHAR", doc = "class; of several that with the most time"}
-- share_ratio = {type = "DOUBLE", doc = "self_ns / that of all operators of the device, source or
-- run"}
-- self_ns = {type = "BIGINT", doc = "time without the operators inside"}
-- op_count = {type = "BIGINT", doc = "operators"}
-- occurrence_count = {type = "BIGINT", doc = "how often they ran"}
-- total_flop = {type = "DOUBLE", doc = "operations, as reported"}
-- total_bytes = {type = "DOUBLE", doc = "bytes, as reported"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "operations / bytes; NULL without operations"}
-- bound_kind = {type = "VARCHAR", doc = "latency (below 0.6 of both roofs), bandwidth (of memory)
-- or compute; NULL without operations"}
-- nearest_name = {type = "VARCHAR", doc = "the resource whose time at peak is longer: compute
-- (the intensity is above the ridge) or dram"}
-- roof_ratio = {type = "DOUBLE", doc = "that time / time: how near to the roof"}
-- source_id = {type = "VARCHAR", doc = "source (host); NULL where they are added up"}
-- device_id = {type = "BIGINT", doc = "device; NULL where they are added up"}
-- reason = {type = "VARCHAR", doc = "why bound_kind is NULL, or not of all operators in the row"}
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
