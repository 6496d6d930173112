-- purpose = "Modules without counters do the work that the model knows of their operators."
-- source = "docs/metrics.md, sections Layers, Operators of a timeline"
-- report = "layers"
-- keys = ["layer_path"]
-- options.provenance = ["best", "modelled"]
-- needs = ["calling_context"]
-- upon = "op_work_sum"
-- is_partial = true
select
    coalesce(module_path, '(no module)') as layer_path,
    * exclude (name, module_path, is_operator, achieved_bytes_per_s)
from op_work_sum
where
    not is_operator
    and not exists (from layer_stat where run_id = $run_id)
    -- a layer is one by the context of its kernels or operators themselves
    and (
        coalesce(module_path, '') in (
            select coalesce(module_path, '')
            from (from attribution where run_id = $run_id and work_kind = 'kernel')
            left join calling_context using (run_id, source_id, context_id)
        )
        or coalesce(module_path, '') in (
            select coalesce(module_path, '')
            from (from op_call where run_id = $run_id)
            left join calling_context using (run_id, source_id, context_id)
            where source_id not in (select source_id from kernel where run_id = $run_id)
        )
    )
