-- purpose = "Operators do the operations and bytes of the profiler's rows, in their time."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_breakdown"
-- keys = ["source_id", "device_id", "program_name", "name"]
-- needs = ["op_stat"]
-- upon = "worked_op"
-- is_partial = true
-- skips_unknown = true
select
    source_id,
    device_id,
    program_name,
    name,
    'reported' as provenance_kind,
    if(count(distinct basis) = 1, min(basis), null) as bytes_basis,
    sum(flop) filter (where dur_ns > 0)
    / nullif(sum(if(flop is null, null, dur_ns)), 0)
    * 1e9 as achieved_flop_per_s,
    sum(bytes) filter (where dur_ns > 0)
    / nullif(sum(if(bytes is null, null, dur_ns)), 0)
    * 1e9 as achieved_bytes_per_s,
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
group by source_id, device_id, program_name, name
having bool_and(is_plain)
-- smaller ones are not shown
qualify sum(self_ns) / sum(sum(self_ns)) over (partition by source_id, device_id) > 0.01
