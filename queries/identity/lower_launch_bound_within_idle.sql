-- purpose = "Launches cannot delay a device for longer than it is idle."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["launch_bounds", "overlap"]
select
    device_named(overlap.device_id, overlap.source_id) as subject,
    'launch_bounds.lower_ns' as first_figure,
    lower_ns as first_value,
    'overlap.exposed_ns of idle' as second_figure,
    exposed_ns as second_value
from
    (
        select source_id, device_id, sum(lower_ns) as lower_ns from launch_bounds group by all
    ) as launch_bounds
join
    overlap
    on overlap.source_id = launch_bounds.source_id
    and overlap.device_id is not distinct from launch_bounds.device_id
where work_class = 'idle' and is_above(lower_ns, exposed_ns)
