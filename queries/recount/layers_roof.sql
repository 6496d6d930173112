-- purpose = "Modules are as near to the roof as the least time of their work to their time."
-- source = "docs/metrics.md, section Operators of a timeline"
-- report = "layers"
-- keys = ["layer_path"]
-- needs = ["attribution"]
-- upon = "op_roof_sum"
-- is_partial = true
select
    coalesce(module_path, '(no module)') as layer_path,
    utilization_ratio,
    bandwidth_ratio,
    roof_ratio,
    bound_kind
from op_roof_sum
where
    not is_operator
    -- a layer is one by the context of its own kernels
    and coalesce(module_path, '') in (
        select coalesce(module_path, '')
        from (from attribution where run_id = $run_id and work_kind = 'kernel')
        left join calling_context using (run_id, source_id, context_id)
    )
    and exists (from calling_context where run_id = $run_id)
    and not exists (from layer_stat where run_id = $run_id)
