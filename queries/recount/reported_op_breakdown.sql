-- purpose = "Operators have the time, the calls and the work of the profiler's rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_breakdown"
-- keys = ["source_id", "device_id", "program_name", "name"]
-- needs = ["op_stat"]
-- upon = "listed_op"
-- is_partial = true
select
    source_id,
    device_id,
    program_name,
    name,
    min(op_kind) as op_kind,
    min(category_name) as category_name,
    sum(self_ns) as self_ns,
    sum(dur_ns) as total_ns,
    sum(self_ns) / sum(sum(self_ns)) over (partition by source_id, device_id) as share_ratio,
    count(*) as op_count,
    sum(coalesce(occurrence_count, 1)) as occurrence_count
from listed_op
group by source_id, device_id, program_name, name
-- smaller ones are not shown
qualify share_ratio > 0.01
