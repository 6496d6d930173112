-- purpose = "Gaps end where work of the device begins and none before it runs on."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "largest_gaps"
-- keys = ["source_id", "next_event_id"]
-- needs = ["attribution"]
-- is_partial = true
with
    work as (
        select
            source_id,
            device_id,
            event_id,
            name,
            step_index,
            start_ns,
            max(start_ns + dur_ns) over (
                partition by source_id, device_id
                order by start_ns, event_id
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from attribution
        where run_id = $run_id and dur_ns is not null
    )
select
    source_id,
    event_id as next_event_id,
    device_id,
    name as next_name,
    step_index,
    reach_ns as start_ns,
    start_ns - reach_ns as gap_ns
from work
where
    start_ns > reach_ns
    -- work outside of the steps is not looked at
    and source_id
    not in (select source_id from attribution where run_id = $run_id and step_index is null)
order by gap_ns desc
limit 5
