-- purpose = "Kernels of devices with a known time in sources that no window cuts: whether they move
-- data between devices, how much longer than all kernels before they run, and than all that
-- compute. Copies hide no communication."
-- upon = "numbered_collective"
with
    work as (
        select attribution.*, start_ns + dur_ns as end_ns, is_collective
        from attribution
        left join kernel_kind using (source_id, event_id)
        where run_id = $run_id and dur_ns is not null and work_kind = 'kernel'
        qualify
            bool_and(is_collective is not null) over (partition by source_id)
            and (
                bool_and(step_index is not null) over (partition by source_id)
                or source_id not in (select source_id from step where run_id = $run_id)
            )
    )
select
    *,
    greatest(0, end_ns - greatest(start_ns, max(end_ns) over earlier)) as more_ns,
    if(
        is_collective,
        0,
        greatest(
            0,
            end_ns - greatest(start_ns, max(end_ns) filter (where not is_collective) over earlier)
        )
    ) as more_compute_ns,
    if(
        is_collective,
        greatest(
            0, end_ns - greatest(start_ns, max(end_ns) filter (where is_collective) over earlier)
        ),
        0
    ) as more_collective_ns
from work
window
    earlier as (
        partition by source_id, device_id
        order by start_ns, end_ns
        rows between unbounded preceding and 1 preceding
    )
