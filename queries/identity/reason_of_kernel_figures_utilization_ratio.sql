-- purpose = "An unknown utilization_ratio of kernel_figures has its reason."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["kernel_figures"]
select
    name as subject,
    'kernel_figures.utilization_ratio' as first_figure,
    cast(null as double) as first_value,
    'its reason' as second_figure,
    cast(null as double) as second_value
from kernel_figures
where utilization_ratio is null and coalesce(reason, bound_reason, missing_metrics) is null
