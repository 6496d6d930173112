-- purpose = "Kernels that start in all intervals are those of the rows, where no work is outside
-- of the steps."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "queue_depth"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- is_sum = true
-- is_partial = true
select source_id, device_id, 1 as launch_count
from attribution
where
    run_id = $run_id
    and work_kind = 'kernel'
    and source_id not in (
        select source_id
        from attribution
        where
            run_id = $run_id
            and (
                dur_ns is null
                or step_index is null
                and source_id in (select source_id from step where run_id = $run_id)
            )
    )
