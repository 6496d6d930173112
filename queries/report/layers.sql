-- purpose = "Layers of a network in order: forward, backward and other time, share, time per
-- step, and the work of their operators (joined counters, else modeled)."
-- source = "Awan 2017, sect. 4.3.3 (Fig. 6, 7); function op_model; docs/metrics.md, sections
-- Layers, Operators of a timeline"
-- needs = ["calling_context"]
-- depends = ["layer_figures", "attributed_op_figures"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M (step numbers, inclusive)",
-- default = "all"}
-- depth = {type = "BIGINT", doc = "path components to keep, with modules below summed; default:
-- all", optional = true}
-- provenance = {type = "VARCHAR", doc = "source of operations and bytes: measured (joined
-- counters), modelled, or best (measured if all kernels have counters, else modelled)", default =
-- "best", choices = ["best", "measured", "modelled"]}
-- [columns]
-- layer_path = {type = "VARCHAR", doc = "layer, or modules joined by /; (no layer) or (no
-- module): everything else"}
-- forward_ns = {type = "BIGINT", doc = "forward time of all kernels; caffe time: of one iteration"}
-- backward_ns = {type = "BIGINT", doc = "time of the backward pass"}
-- share_ratio = {type = "DOUBLE", doc = "sum of the three times / that of all rows of the run or
-- net"}
-- step_ns = {type = "DOUBLE", doc = "sum of the three times per step, over work in steps"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (peak x time), if known"}
-- bound_kind = {type = "VARCHAR", doc = "latency (below 0.6 of both roofs), bandwidth or compute;
-- NULL without operations"}
-- roof_ratio = {type = "DOUBLE", doc = "longer time at peak / time; 1 is at the roof"}
-- layer_type = {type = "VARCHAR", doc = "layer type; NULL if unknown or several"}
-- other_ns = {type = "BIGINT", doc = "time in neither pass: optimizer, data, unknown"}
-- step_count = {type = "BIGINT", doc = "steps, counted per source; caffe time: iterations in the
-- mean"}
-- kernel_count = {type = "BIGINT", doc = "kernels; NULL unless basis is kernels"}
-- known_ratio = {type = "DOUBLE", doc = "share of the time of its operators with known operations
-- and bytes"}
-- total_flop = {type = "DOUBLE", doc = "known operations of its operators"}
-- total_bytes = {type = "DOUBLE", doc = "minimum bytes read and written, if known"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "operations / minimum bytes, over operators
-- with both known; NULL without operations"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "operations / time of the kernels, copies and
-- memsets of these operators, or host time"}
-- reason = {type = "VARCHAR", doc = "why there is no layer or a time is NULL"}
-- basis = {type = "VARCHAR", doc = "source of the times: caffe time, kernels, host operators or
-- mixed"}
-- forward_step_ns = {type = "DOUBLE", doc = "forward_ns of a step"}
-- backward_step_ns = {type = "DOUBLE", doc = "backward_ns of a step"}
-- net_name = {type = "VARCHAR", doc = "caffe time: the net"}
-- net_index = {type = "BIGINT", doc = "caffe time: index of the net in a log, from 0"}
-- work_reason = {type = "VARCHAR", doc = "why operations or bytes are NULL or incomplete (the
-- reason with the most time)"}
-- bandwidth_ratio = {type = "DOUBLE", doc = "bytes / (peak x time), over operators with known
-- bytes"}
-- provenance_kind = {type = "VARCHAR", doc = "source of operations and bytes: measured (joined
-- counters), modelled or mixed"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x time), over
-- kernels with counters (Zhu 2018, eq. 2); NULL without counters"}
select
    layer.layer_path,
    forward_ns,
    backward_ns,
    layer.share_ratio,
    step_ns,
    work.utilization_ratio,
    work.bound_kind,
    work.roof_ratio,
    layer_type,
    other_ns,
    step_count,
    layer.kernel_count,
    work.known_ratio,
    work.total_flop,
    work.total_bytes,
    work.intensity_flop_per_byte,
    work.achieved_flop_per_s,
    layer.reason,
    layer.basis,
    forward_step_ns,
    backward_step_ns,
    net_name,
    net_index,
    case
        when layer.basis = 'caffe time' then 'no operators in the log' else work.work_reason
    end as work_reason,
    work.bandwidth_ratio,
    work.provenance_kind,
    work.fp32_utilization_ratio
from layer_figures($run_id, $phase, $depth) as layer
left join
    attributed_op_figures($run_id, $phase, 'module', $depth, $provenance) as work
    on work.run_id = layer.run_id
    and work.group_name is not distinct from layer.group_path
    and layer.basis <> 'caffe time'
order by net_index nulls first, layer_rank
