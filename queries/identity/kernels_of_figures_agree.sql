-- purpose = "Kernels with counters take the same time in both reports."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["kernel_figures", "operational_intensity"]
select
    name as subject,
    'kernel_figures.total_ns' as first_figure,
    kernel_figures.total_ns as first_value,
    'operational_intensity.total_ns' as second_figure,
    operational_intensity.total_ns as second_value
from kernel_figures
join operational_intensity using (name)
where differs(kernel_figures.total_ns, operational_intensity.total_ns)
