-- purpose = "The overhead of launches is unknown without launches, or if nothing says what one
-- takes."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "launch_bounds"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "plain_window"
-- is_partial = true
select
    source_id,
    device_id,
    any_value(rank_index) as rank_index,
    if(
        count(launch_event_id) = 0,
        'launches not in the file',
        'launch overhead of this device unknown; give launch_overhead_ns'
    ) as overhead_reason
from plain_window
where work_kind = 'kernel'
group by source_id, device_id
having
    count(launch_event_id) = 0
    or not exists (
        from device
        join
            model_ceiling
            on contains(lower(model_name), regexp_extract(lower(device.name), '[a-z]+\d+\w*'))
        where device.run_id = $run_id and ceiling_kind = 'launch_overhead'
    )
    and not exists (
        from assumption
        where
            run_id = $run_id
            and (assumption_kind in ('device', 'launch_overhead') or name like '%launch%')
    )
