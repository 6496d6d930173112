-- purpose = "Operators are as near to the roof as the least time of their work to their time."
-- source = "docs/metrics.md, section Operators of a timeline"
-- report = "ops"
-- keys = ["name"]
-- needs = ["attribution"]
-- upon = "op_roof_sum"
-- is_partial = true
select
    coalesce(name, '(no operator)') as name,
    utilization_ratio,
    utilization_ratio as least_utilization_ratio,
    bandwidth_ratio,
    roof_ratio,
    bound_kind
from op_roof_sum
where is_operator
