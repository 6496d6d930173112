-- purpose = "Pieces of a timeline have the work of the rows, where no work is outside of the
-- steps."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "timeline"
-- keys = ["source_id", "device_id", "stream_id", "track_kind"]
-- needs = ["attribution"]
-- is_sum = true
-- is_partial = true
select source_id, device_id, stream_id, 'stream' as track_kind, dur_ns as sum_ns, 1 as work_count
from attribution
where
    run_id = $run_id
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
