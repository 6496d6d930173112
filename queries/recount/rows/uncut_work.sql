-- purpose = "Work of devices in sources whose work is all timed, and in steps if they have any: no
-- window cuts it."
-- upon = "kernel_kind"
select
    source_id,
    device_id,
    stream_id,
    event_id,
    work_kind,
    -- instructions of XLA that start or await a copy are copies
    work_kind = 'kernel'
    and not coalesce(
        regexp_matches(
            if(starts_with(category_name, 'async-'), attribution.name, category_name),
            '^%?(copy|slice|dynamic-slice|dynamic-update-slice)-(start|update|done)(\.|$)'
        ),
        false
    ) as is_kernel,
    is_collective,
    name,
    step_index,
    start_ns,
    start_ns + dur_ns as end_ns,
    dur_ns,
    op_name,
    launch_event_id,
    launch_thread_id,
    launch_start_ns,
    coalesce(launch_start_ns + launch_dur_ns, launch_start_ns) as launch_end_ns,
    launch_reason
from attribution
left join kernel_kind using (source_id, event_id)
where run_id = $run_id
qualify
    bool_and(
        dur_ns is not null
        and (
            step_index is not null
            or source_id not in (select source_id from step where run_id = $run_id)
        )
    ) over (partition by source_id)
