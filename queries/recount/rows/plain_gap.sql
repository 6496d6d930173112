-- purpose = "Idle times of devices in a plain window, each with the work after it and its launch;
-- after the last work, nothing is launched until the end. Without launches that have no record."
-- upon = "plain_window"
with
    launched as (
        select
            * replace (coalesce(op_name, name) as op_name),
            max(end_ns) over (
                partition by source_id, device_id
                order by start_ns, event_id
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from plain_window
        where not exists (from unrecorded_launch where run_id = $run_id)
    )
select
    source_id,
    device_id,
    event_id,
    op_name,
    dur_ns as next_ns,
    from_ns,
    elapsed_ns,
    reach_ns is null as is_first,
    coalesce(reach_ns, from_ns) as gap_start_ns,
    start_ns as gap_end_ns,
    launch_thread_id,
    launch_start_ns,
    launch_end_ns,
    case
        when launch_start_ns is null
        then coalesce(launch_reason, 'launch not in the file')
        when launch_start_ns > start_ns
        then 'work begins before its launch: the clocks disagree'
        when reach_ns is null and launch_start_ns < from_ns
        then 'no work before it'
    end as reason
from launched
where coalesce(reach_ns, from_ns) < start_ns
union all
select
    source_id,
    device_id,
    null,
    null,
    null,
    any_value(from_ns),
    any_value(elapsed_ns),
    false,
    max(end_ns),
    any_value(from_ns + elapsed_ns),
    max_by(coalesce(launch_thread_id, -1), (end_ns, event_id)) as thread_id,
    any_value(from_ns + elapsed_ns),
    any_value(from_ns + elapsed_ns),
    if(thread_id = -1, 'no work after it', null)
from launched
group by source_id, device_id
having max(end_ns) < any_value(from_ns + elapsed_ns)
