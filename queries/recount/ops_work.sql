-- purpose = "Operators without counters do the work that the model knows, once in each call."
-- source = "docs/metrics.md, section Operators of a timeline"
-- report = "ops"
-- keys = ["name"]
-- options.provenance = ["best", "modelled"]
-- upon = "op_work_sum"
select coalesce(name, '(no operator)') as name, * exclude (name, module_path, is_operator)
from op_work_sum
where is_operator
