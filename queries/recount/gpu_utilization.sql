-- purpose = "Kernels of a device are those of the rows, where no work is outside of the steps."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "gpu_utilization"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- is_partial = true
with
    kernels as (
        select
            source_id,
            device_id,
            start_ns,
            start_ns + dur_ns as end_ns,
            max(end_ns) over (
                partition by source_id, device_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from attribution
        where run_id = $run_id and work_kind = 'kernel' and dur_ns > 0
    )
select
    source_id,
    device_id,
    count(*) as kernel_count,
    sum(end_ns - start_ns) as sum_ns,
    sum(greatest(0, end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)))) as busy_ns,
    sum(end_ns - start_ns) - busy_ns as overlap_ns
from kernels
where
    source_id not in (select source_id from attribution where run_id = $run_id and dur_ns is null)
    and source_id not in (
        select source_id
        from attribution
        where
            run_id = $run_id
            and step_index is null
            and source_id in (select source_id from step where run_id = $run_id)
    )
group by source_id, device_id
