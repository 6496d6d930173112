-- purpose = "Launches without a record are those of the rows, and can have run where the device is
-- idle after them."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "data_without_records"
-- keys = ["source_id"]
-- needs = ["launch_call"]
-- is_partial = true
with
    calls as (
        select
            source_id,
            sum(unrecorded_count) as unrecorded_count,
            sum(call_count) as call_count,
            first(name order by unrecorded_count desc, name) as name
        from launch_call
        where run_id = $run_id
        group by source_id
    )
select *
from calls
where unrecorded_count > call_count / 100
