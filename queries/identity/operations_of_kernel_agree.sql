-- purpose = "A kernel has the same operations as part of the run and in its intensity."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["kernel_figures", "operational_intensity"]
select
    name as subject,
    'kernel_figures.total_flop' as first_figure,
    kernel_figures.total_flop as first_value,
    'operational_intensity.total_flop' as second_figure,
    operational_intensity.total_flop as second_value
from kernel_figures
join operational_intensity using (name)
where
    kernel_figures.launch_count = operational_intensity.known_launch_count
    and differs(kernel_figures.total_flop, operational_intensity.total_flop)
