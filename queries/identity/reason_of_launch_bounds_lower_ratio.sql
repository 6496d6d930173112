-- purpose = "An unknown lower_ratio of launch_bounds has its reason."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["launch_bounds"]
select
    'device '
    || coalesce(cast(launch_bounds.device_id as varchar), '?')
    || ' of source '
    || launch_bounds.source_id as subject,
    'launch_bounds.lower_ratio' as first_figure,
    cast(null as double) as first_value,
    'its reason' as second_figure,
    cast(null as double) as second_value
from launch_bounds
where lower_ratio is null and reason is null
