-- purpose = "A device has as many kernels in its utilization as in its classes."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["gpu_utilization", "overlap"]
select
    device_named(gpu_utilization.device_id, gpu_utilization.source_id) as subject,
    'gpu_utilization.kernel_count' as first_figure,
    kernel_count as first_value,
    'overlap.work_count of compute and communication' as second_figure,
    other.work_count as second_value
from gpu_utilization
join
    (
        select source_id, device_id, sum(work_count) as work_count
        from overlap
        where work_class in ('compute', 'communication')
        group by all
    ) as other
    on other.source_id = gpu_utilization.source_id
    and other.device_id is not distinct from gpu_utilization.device_id
where differs(kernel_count, other.work_count)
