-- purpose = "Modules without counters do the work that the model knows of their operators."
-- source = "docs/metrics.md, sections Layers, Operators of a timeline"
-- report = "layers"
-- keys = ["layer_path"]
-- needs = ["calling_context"]
-- upon = "op_time"
-- is_partial = true
select
    coalesce(module_path, '(no module)') as layer_path,
    sum(flop) as total_flop,
    sum(bytes) as total_bytes,
    coalesce(sum(if(flop is null or bytes is null, null, total_ns)), 0)
    / nullif(sum(total_ns), 0) as known_ratio,
    if(
        sum(if(bytes is null, null, flop)) > 0,
        sum(if(bytes is null, null, flop)) / sum(if(flop is null, null, bytes)),
        null
    ) as intensity_flop_per_byte,
    sum(if(total_ns > 0, flop, null))
    / nullif(sum(if(flop is null, null, total_ns)), 0)
    * 1e9 as achieved_flop_per_s
from op_time
where
    not exists (from kernel_match where run_id = $run_id)
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
group by module_path
