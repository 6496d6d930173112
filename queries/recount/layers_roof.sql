-- purpose = "Modules are as near to the roof as the least time of their work to their time."
-- source = "docs/metrics.md, section Operators of a timeline"
-- report = "layers"
-- keys = ["layer_path"]
-- needs = ["attribution"]
-- upon = "op_roof"
-- is_partial = true
select
    coalesce(module_path, '(no module)') as layer_path,
    sum(if(flop_peak is null or ns = 0, null, flop))
    * 1e9
    / sum(if(flop is null, null, flop_peak * ns)) as utilization_ratio,
    sum(if(byte_peak is null or ns = 0, null, bytes))
    * 1e9
    / sum(if(bytes is null, null, byte_peak * ns)) as bandwidth_ratio,
    sum(if(compute_ns + memory_ns is null or ns = 0, null, greatest(compute_ns, memory_ns)))
    / nullif(sum(if(compute_ns + memory_ns is null, null, ns)), 0) as roof_ratio,
    case
        when coalesce(sum(if(bytes is null, null, flop)), 0) = 0
        then null
        when roof_ratio < 0.6
        then 'latency'
        when
            sum(if(memory_ns is null, null, compute_ns))
            >= sum(if(compute_ns is null, null, memory_ns))
        then if(roof_ratio is null, null, 'compute')
        else if(roof_ratio is null, null, 'bandwidth')
    end as bound_kind
from op_roof
group by module_path
having
    not bool_or(is_undecided)
    -- a layer is one by the context of its own kernels
    and coalesce(module_path, '') in (
        select coalesce(module_path, '')
        from (from attribution where run_id = $run_id and work_kind = 'kernel')
        left join calling_context using (run_id, source_id, context_id)
    )
    and exists (from calling_context where run_id = $run_id)
    and not exists (from layer_stat where run_id = $run_id)
