-- purpose = "A kernel of low utilization is below the average."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["low_utilization_kernels"]
select
    name as subject,
    'low_utilization_kernels.utilization_ratio' as first_figure,
    utilization_ratio as first_value,
    'low_utilization_kernels.average_ratio' as second_figure,
    average_ratio as second_value
from low_utilization_kernels
where is_above(utilization_ratio, average_ratio)
