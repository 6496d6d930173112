-- purpose = "Operators with unknown operations or bytes, by time and with the reason: candidates
-- for a new model."
-- source = "function op_model; docs/metrics.md, section Operators of a timeline"
-- needs = ["op_call"]
-- depends = ["attributed_op_work"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M (step numbers, inclusive)",
-- default = "all"}
-- [columns]
-- name = {type = "VARCHAR", doc = "operator"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations of its kernels, copies and memsets; in
-- a file without kernels, its host time"}
-- share_ratio = {type = "DOUBLE", doc = "total_ns / total_ns of all work, with and without
-- operators"}
-- call_count = {type = "BIGINT", doc = "calls"}
-- reason = {type = "VARCHAR", doc = "why its work is unknown"}
-- family_name = {type = "VARCHAR", doc = "operator family; NULL without a model"}
-- missing = {type = "VARCHAR", doc = "what is unknown: operations, bytes or both"}
-- input_dims = {type = "VARCHAR", doc = "argument shapes with the most time, as recorded"}
-- input_types = {type = "VARCHAR", doc = "their types"}
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
    arg_max(input_dims, coalesce(total_ns, 0)) as input_dims,
    arg_max(input_types, coalesce(total_ns, 0)) as input_types
from work
where not is_known and name is not null
group by name, reason, family_name, missing
order by total_ns desc nulls last, name, reason
