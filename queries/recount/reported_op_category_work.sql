-- purpose = "Categories of operators do the operations and bytes of the profiler's rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_by_category"
-- keys = ["source_id", "device_id", "category_name"]
-- needs = ["op_stat"]
-- upon = "worked_op"
-- is_partial = true
-- skips_unknown = true
select
    source_id,
    device_id,
    coalesce(category_name, type_name) as category_name,
    min(op_kind) as op_kind,
    sum(flop) as total_flop,
    sum(bytes) as total_bytes,
    if(
        sum(if(bytes is null, null, flop)) > 0,
        sum(if(bytes is null, null, flop)) / nullif(sum(if(flop is null, null, bytes)), 0),
        null
    ) as intensity_flop_per_byte,
    case
        when count(flop) = 0 and count(*) = 1
        then 'operations: not_collected'
        when count(flop) = 0
        then count(*) || ' of ' || count(*) || ' operators: operations: not_collected'
        when count(bytes) = count(*) and count(flop) = count(*) and sum(flop) = 0
        then 'no operations'
    end as reason
from worked_op
group by source_id, device_id, coalesce(category_name, type_name)
having bool_and(is_plain)
