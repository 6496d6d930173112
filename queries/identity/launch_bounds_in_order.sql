-- purpose = "The lower bound of the launch overhead is at most the upper one."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["launch_bounds"]
select
    device_named(launch_bounds.device_id, launch_bounds.source_id) as subject,
    'launch_bounds.lower_ns' as first_figure,
    lower_ns as first_value,
    'launch_bounds.upper_ns' as second_figure,
    upper_ns as second_value
from launch_bounds
where is_above(lower_ns, upper_ns)
