-- purpose = "Operators have the time, the calls and the work of the profiler's rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_breakdown"
-- keys = ["source_id", "device_id", "program_name", "name"]
-- options.by = ["op", "type"]
-- options.scope = ["device", "source", "run"]
-- needs = ["op_stat"]
-- upon = "scoped_op"
-- is_partial = true
with
    named as (
        select
            * replace (
                if($by = 'op', program_name, null) as program_name,
                if($by = 'op', name, coalesce(type_name, category_name)) as name,
                if($by = 'op', category_name, null) as category_name
            )
        from scoped_op
    )
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
from named
group by source_id, device_id, program_name, name
-- smaller ones are not shown
qualify share_ratio > 0.01
