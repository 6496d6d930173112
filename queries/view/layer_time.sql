-- purpose = "Times of layers in parts: from caffe time, and kernels of a timeline by module
-- (operators if it has no kernels)."
-- source = "Awan 2017, sect. 4.3.3 (Fig. 6, 7): layers, split into forward and backward;
-- docs/metrics.md, section Layers"
-- needs = ["layer_stat", "attribution", "calling_context", "op_call"]
-- columns = "run_id source_id basis net_index net_name layer_index layer_path layer_type
-- phase_kind is_pass statistic_kind step_index start_ns dur_ns share_ns iteration_count
-- kernel_count reason-layers"
-- basis = "source of the time: caffe time, kernels or host operators"
-- layer_index = "BIGINT: caffe time: position of the layer in the net"
-- layer_path = "layer, or modules joined by /; NULL if unknown, or for a whole pass"
-- is_pass = "BOOLEAN: caffe time: a whole pass over the net, including its layers"
-- statistic_kind = "VARCHAR: caffe time: statistic as printed; means and sums, or for a layer
-- without them the one available"
-- start_ns = "start; NULL for caffe time"
-- dur_ns = "duration, for an operator without nested ones; caffe time: mean of an iteration"
-- share_ns = "BIGINT: base of the shares: dur_ns, but as caffe time printed it"
-- iteration_count = "BIGINT: caffe time: iterations of the mean"
-- kernel_count = "1 for a kernel, else NULL"
select
    run_id,
    source_id,
    'caffe time' as basis,
    net_index,
    net_name,
    layer_index,
    name as layer_path,
    type_name as layer_type,
    coalesce(phase_kind, 'other') as phase_kind,
    name is null as is_pass,
    statistic_kind,
    cast(null as bigint) as step_index,
    cast(null as bigint) as start_ns,
    case
        statistic_kind
        when 'mean'
        then dur_ns
        when 'sum'
        then cast(round(ratio(dur_ns, iteration_count)) as bigint)
    end as dur_ns,
    case when statistic_kind in ('mean', 'sum') then dur_ns end as share_ns,
    iteration_count,
    cast(null as bigint) as kernel_count,
    case
        when statistic_kind = 'min'
        then 'the log has the least of the iterations, not their mean'
        when statistic_kind = 'max'
        then 'the log has the largest of the iterations, not their mean'
        when statistic_kind = 'median'
        then 'the log has the median of the iterations, not their mean'
        when statistic_kind = 'sum' and coalesce(iteration_count, 0) = 0
        then 'a sum, and the log does not say over how many iterations'
    end as reason
from layer_stat
where statistic_kind <> 'single'
-- a layer without a mean has one row all the same: NULL, with the reason
qualify
    statistic_kind in ('mean', 'sum')
    or name is not null
    and 1 = row_number() over (
        partition by run_id, source_id, net_index, layer_index, name, phase_kind
        order by statistic_kind not in ('mean', 'sum'), statistic_kind desc, event_id
    )
union all by name
select
    work.run_id,
    work.source_id,
    'kernels' as basis,
    context.module_path as layer_path,
    context.module_type_name as layer_type,
    case
        when context.phase_kind in ('forward', 'backward') then context.phase_kind else 'other'
    end as phase_kind,
    false as is_pass,
    work.step_index,
    work.start_ns,
    work.dur_ns,
    work.dur_ns as share_ns,
    cast(1 as bigint) as kernel_count,
    case
        when context.module_path is null
        then coalesce(work.module_reason, work.op_reason, 'no module')
    end as reason
from attribution as work
left join
    calling_context as context
    on context.run_id = work.run_id
    and context.source_id = work.source_id
    and context.context_id = work.context_id
where work.work_kind = 'kernel'
union all by name
select
    call.run_id,
    call.source_id,
    'host operators' as basis,
    context.module_path as layer_path,
    context.module_type_name as layer_type,
    case
        when context.phase_kind in ('forward', 'backward') then context.phase_kind else 'other'
    end as phase_kind,
    false as is_pass,
    call.step_index,
    call.start_ns,
    call.self_ns as dur_ns,
    call.self_ns as share_ns,
    case when context.module_path is null then 'no module around the operator' end as reason
from op_call as call
left join
    calling_context as context
    on context.run_id = call.run_id
    and context.source_id = call.source_id
    and context.context_id = call.context_id
anti join
    stored_table as stored
    on stored.table_name = 'kernel'
    and stored.run_id = call.run_id
    and stored.source_id = call.source_id
