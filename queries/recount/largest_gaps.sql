-- purpose = "Gaps end where work of the device begins and none before it runs on."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "largest_gaps"
-- keys = ["source_id", "next_event_id"]
-- needs = ["attribution"]
-- upon = "uncut_work"
-- is_partial = true
with
    reached as (
        select
            *,
            max(end_ns) over (
                partition by source_id, device_id
                order by start_ns, event_id
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from uncut_work
    )
select
    source_id,
    event_id as next_event_id,
    device_id,
    name as next_name,
    step_index,
    reach_ns as start_ns,
    start_ns - reach_ns as gap_ns
from reached
where
    start_ns > reach_ns
    -- work without a record can have run in a gap
    and not exists (from unrecorded_launch where run_id = $run_id)
order by gap_ns desc
limit 5
