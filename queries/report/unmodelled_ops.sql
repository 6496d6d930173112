-- purpose = "Operators with unknown operations or bytes, by time and with the reason: candidates
-- for a new model."
-- source = "function op_model; docs/metrics.md, section Operators of a timeline"
-- topic = "operators"
-- needs = ["op_call or attribution"]
-- depends = ["attributed_op_work"]
-- parameters = "run_id phase"
-- columns = "name-operator total_ns share_ratio call_count reason family_name missing input_dims
-- input_types"
-- total_ns = "sum of the durations of its kernels, copies and memsets; without kernels, host time"
-- share_ratio = "total_ns / total_ns of all work, with and without operators"
-- missing = "VARCHAR: what is unknown: operations, bytes or both"
-- input_dims = "argument shapes with the most time, as recorded"
with
    work as (
        select *, sum(total_ns) over () as whole_ns
        from attributed_op_work($run_id, $phase, 'modelled')
    )
select
    name,
    cast(sum(total_ns) as bigint) as total_ns,
    ratio(sum(total_ns), any_value(whole_ns)) as share_ratio,
    cast(sum(call_count) as bigint) as call_count,
    reason,
    family_name,
    case
        when total_flop is not null
        then 'bytes'
        when total_bytes is not null
        then 'operations'
        else 'both'
    end as missing,
    arg_min(input_dims, (- coalesce(total_ns, 0), input_dims, input_types)) as input_dims,
    arg_min(input_types, (- coalesce(total_ns, 0), input_dims, input_types)) as input_types
from work
where not is_known and name is not null
group by name, reason, family_name, missing
order by total_ns desc nulls last, name, reason, family_name, missing
