-- purpose = "No rate in kernel_figures is above its peak (5 % for clocks)."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["kernel_figures"]
select
    name as subject,
    'kernel_figures.roof_ratio' as first_figure,
    roof_ratio as first_value,
    '1.05' as second_figure,
    1.05 as second_value
from kernel_figures
where roof_ratio > 1.05
