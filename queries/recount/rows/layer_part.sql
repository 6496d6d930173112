-- purpose = "Times of modules in runs without layers that a framework timed: kernels, and operators
-- without what they call in sources without kernels, in the phase of their context."
select
    source_id,
    module_path,
    if(phase_kind in ('forward', 'backward'), phase_kind, 'other') as phase_kind,
    step_index,
    dur_ns,
    1 as kernel_count
from (from attribution where run_id = $run_id and work_kind = 'kernel')
left join calling_context using (run_id, source_id, context_id)
where
    not exists (from layer_stat where run_id = $run_id)
    and exists (from calling_context where run_id = $run_id)
union all
select
    source_id,
    module_path,
    if(phase_kind in ('forward', 'backward'), phase_kind, 'other') as phase_kind,
    step_index,
    self_ns,
    null
from (from op_call where run_id = $run_id)
left join calling_context using (run_id, source_id, context_id)
where
    not exists (from layer_stat where run_id = $run_id)
    and exists (from calling_context where run_id = $run_id)
    and source_id not in (select source_id from kernel where run_id = $run_id)
