-- purpose = "Operators by category have the time of the profiler's rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_by_category"
-- keys = ["source_id", "device_id", "category_name"]
-- options.scope = ["device", "source", "run"]
-- needs = ["op_stat"]
-- upon = "scoped_op"
-- is_partial = true
select
    source_id,
    device_id,
    coalesce(category_name, type_name) as category_name,
    sum(self_ns) as self_ns,
    sum(self_ns) / sum(sum(self_ns)) over (partition by source_id, device_id) as share_ratio,
    count(*) as op_count,
    sum(coalesce(occurrence_count, 1)) as occurrence_count
from scoped_op
group by source_id, device_id, coalesce(category_name, type_name)
