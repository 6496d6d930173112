-- purpose = "Compute and communication are the rows of each, and hide what runs beside them."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "overlap"
-- keys = ["source_id", "device_id", "work_class"]
-- needs = ["attribution"]
-- upon = "covered_time"
-- is_partial = true
with
    summed as (
        select
            source_id,
            device_id,
            if(is_collective, 'communication', 'compute') as work_class,
            count(*) as work_count,
            sum(dur_ns) as sum_ns,
            sum(if(is_collective, more_collective_ns, more_compute_ns)) as union_ns
        from covered_time
        where is_kernel
        group by all
    ),
    device as (
        select source_id, device_id, sum(more_kernel_ns) - sum(more_compute_ns) as alone_ns
        from covered_time
        group by all
    )
select
    summed.*,
    if(work_class = 'compute', union_ns, alone_ns) as exposed_ns,
    1 - exposed_ns / nullif(union_ns, 0) as hidden_ratio
from summed
join
    device
    on device.source_id = summed.source_id
    and device.device_id is not distinct from summed.device_id
