-- purpose = "Kernels of a rank are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "ranks"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- is_partial = true
select source_id, device_id, count(*) as kernel_count
from attribution
where
    run_id = $run_id
    and work_kind = 'kernel'
    and source_id not in (
        select source_id
        from attribution
        where
            run_id = $run_id
            and step_index is null
            and source_id in (select source_id from step where run_id = $run_id)
    )
group by source_id, device_id
