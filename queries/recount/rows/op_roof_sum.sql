-- purpose = "How near operators, and modules, are to the roof: by the name of either."
-- upon = "op_roof"
select
    name,
    module_path,
    grouping(name) = 0 as is_operator,
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
group by grouping sets ((name), (module_path))
having not bool_or(is_undecided)
