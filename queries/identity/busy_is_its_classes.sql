-- purpose = "Time with kernels is compute and exposed communication."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["gpu_utilization", "overlap"]
select
    device_named(gpu_utilization.device_id, gpu_utilization.source_id) as subject,
    'gpu_utilization.busy_ns' as first_figure,
    busy_ns as first_value,
    'overlap.exposed_ns of compute and communication' as second_figure,
    other.exposed_ns as second_value
from gpu_utilization
join
    (
        select source_id, device_id, sum(exposed_ns) as exposed_ns
        from overlap
        where work_class in ('compute', 'communication')
        group by all
    ) as other
    on other.source_id = gpu_utilization.source_id
    and other.device_id is not distinct from gpu_utilization.device_id
where differs(busy_ns, other.exposed_ns)
