-- purpose = "Launch calls of a device are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "launch_bounds"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- is_partial = true
with
    launches as (
        select
            source_id,
            device_id,
            launch_event_id,
            any_value(launch_dur_ns) as call_ns,
            any_value(launch_work_count) > 1 as is_graph
        from attribution
        where run_id = $run_id and work_kind = 'kernel' and launch_event_id is not null
        group by source_id, device_id, launch_event_id
    )
select
    source_id,
    device_id,
    count(*) as launch_count,
    sum(call_ns) as call_ns,
    count(*) filter (where is_graph) as graph_launch_count
from launches
group by source_id, device_id
