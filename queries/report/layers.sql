-- purpose = "Layers of a network in their order: time forward, backward and else, share, time of
-- a step, and the work of their operators (by counters that were joined, else modelled)."
-- source = "Awan 2017, sect. 4.3.3 (Fig. 6, 7); function op_model; docs/metrics.md, sections
-- Layers, Operators of a timeline"
-- needs = ["calling_context"]
-- depends = ["layer_figures", "attributed_op_figures"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M (numbers, both included)", default
-- = "all"}
-- depth = {type = "BIGINT", doc = "parts of the path to keep, modules below added up; if not
-- given, all", optional = true}
-- provenance = {type = "VARCHAR", doc = "of operations and bytes: measured (by counters that were
-- joined), modelled or best: measured where all kernels have counters, else modelled", default =
-- "best", choices = ["best", "measured", "modelled"]}
-- [columns]
-- layer_path = {type = "VARCHAR", doc = "layer, or modules joined by /; (no layer) or (no
-- module): the rest"}
-- forward_ns = {type = "BIGINT", doc = "time of the forward pass: of all kernels; caffe time: of
-- an iteration"}
-- backward_ns = {type = "BIGINT", doc = "time of the backward pass"}
-- share_ratio = {type = "DOUBLE", doc = "all three / that of all rows of the run, or of the net"}
-- step_ns = {type = "DOUBLE", doc = "all three of a step: of the work in steps / steps"}
-- utilization_ratio = {type = "DOUBLE", doc = "operations / (peak x time), where they are known"}
-- bound_kind = {type = "VARCHAR", doc = "latency (below 0.6 of both roofs), bandwidth or compute;
-- NULL without operations"}
-- roof_ratio = {type = "DOUBLE", doc = "the longer of both times at peak / time: 1 is on the roof"}
-- layer_type = {type = "VARCHAR", doc = "its type; NULL if unknown, or of several together"}
-- other_ns = {type = "BIGINT", doc = "time of neither: optimizer, data, not known"}
-- step_count = {type = "BIGINT", doc = "steps, of each source its own; caffe time: iterations of
-- the mean"}
-- kernel_count = {type = "BIGINT", doc = "kernels; NULL unless basis is kernels"}
-- known_ratio = {type = "DOUBLE", doc = "share of the time of its operators whose operations and
-- bytes are both known"}
-- total_flop = {type = "DOUBLE", doc = "operations of the operators called in it, where they are
-- known"}
-- total_bytes = {type = "DOUBLE", doc = "least bytes that they read and write, where they are
-- known"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "operations / least bytes, where both are
-- known; NULL without operations"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "operations / time of the kernels, copies and
-- sets of these operators, or on the host"}
-- reason = {type = "VARCHAR", doc = "why there is no layer, or a time is NULL"}
-- basis = {type = "VARCHAR", doc = "whose time it is: caffe time, kernels, host operators or
-- mixed"}
-- forward_step_ns = {type = "DOUBLE", doc = "forward_ns of a step"}
-- backward_step_ns = {type = "DOUBLE", doc = "backward_ns of a step"}
-- net_name = {type = "VARCHAR", doc = "caffe time: the net"}
-- net_index = {type = "BIGINT", doc = "caffe time: which net of a log, from 0"}
-- work_reason = {type = "VARCHAR", doc = "why operations or bytes are NULL, or not of all of the
-- time (the reason of the most time left out)"}
-- bandwidth_ratio = {type = "DOUBLE", doc = "bytes / (peak x time), likewise"}
-- provenance_kind = {type = "VARCHAR", doc = "of operations and bytes: measured (by joined
-- counters), modelled or mixed"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x time), of the
-- kernels that have counters (Zhu 2018, eq. 2); NULL without"}
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
