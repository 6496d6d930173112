-- purpose = "The launch bounds of a device count all kernels of its utilization."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["launch_bounds", "gpu_utilization"]
select
    device_named(gpu_utilization.device_id, gpu_utilization.source_id) as subject,
    'gpu_utilization.kernel_count' as first_figure,
    gpu_utilization.kernel_count as first_value,
    'launch_bounds.kernel_count, summed' as second_figure,
    other.kernel_count as second_value
from gpu_utilization
cross join phase_asked
join
    (
        select source_id, device_id, sum(kernel_count) as kernel_count
        from launch_bounds
        group by all
    ) as other
    on other.source_id = gpu_utilization.source_id
    and other.device_id is not distinct from gpu_utilization.device_id
where
    -- of a part of the run, a kernel launched before can run into it
    phase_asked.phase = 'all' and is_above(gpu_utilization.kernel_count, other.kernel_count)
