-- purpose = "Layers of a network in order: forward, backward and other time, share, time per
-- step, and the work of their operators (joined counters, else modeled)."
-- source = "Awan 2017, sect. 4.3.3 (Fig. 6, 7); function op_model; docs/metrics.md, sections
-- Layers, Operators of a timeline"
-- topic = "operators"
-- needs = ["calling_context or layer_stat"]
-- depends = ["layer_figures", "attributed_op_figures"]
-- parameters = "run_id phase depth provenance-kernels"
-- columns = "layer_path forward_ns backward_ns share_ratio step_ns utilization_ratio bound_kind
-- roof_ratio layer_type other_ns step_count-layers kernel_count-basis known_ratio total_flop
-- total_bytes-minimum intensity_flop_per_byte achieved_flop_per_s reason-layers basis
-- forward_step_ns backward_step_ns net_name net_index work_reason bandwidth_ratio provenance_kind
-- fp32_utilization_ratio-counters"
-- answer = "share_ratio step_ns bound_kind roof_ratio"
-- share_ratio = "sum of the three times / that of all rows of the run or net"
-- step_ns = "DOUBLE: sum of the three times per step, over work in steps"
-- known_ratio = "share of the time of its operators with known operations and bytes"
-- intensity_flop_per_byte = "operations / minimum bytes, over operators with both known; NULL
-- without operations"
-- achieved_flop_per_s = "operations / time of the kernels, copies and memsets of these operators,
-- or host time"
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
    coalesce(layer.reason, case when step_ns is null then 'no steps' end) as reason,
    layer.basis,
    forward_step_ns,
    backward_step_ns,
    net_name,
    net_index,
    case
        when layer.basis = 'caffe time'
        then 'no operators in the log'
        else coalesce(work.work_reason, work.reason)
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
-- without contexts, all work would be of no module
where layer.basis = 'caffe time' or exists (from calling_context where run_id = $run_id)
order by net_index nulls first, layer_rank
