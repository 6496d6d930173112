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
    coalesce(source_rank, device_rank) as rank_index,
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
left join
    (
        select source_id, rank_index as source_rank from source_file where run_id = $run_id
    ) as source_file using (source_id)
left join
    (
        select source_id, device_id, any_value(rank_index) as device_rank
        from device
        where run_id = $run_id
        group by all
    ) as device using (source_id, device_id)
where run_id = $run_id
qualify
    bool_and(
        dur_ns is not null
        and (
            step_index is not null
            or source_id not in (select source_id from step where run_id = $run_id)
        )
    ) over (partition by source_id)
