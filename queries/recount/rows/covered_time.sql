-- purpose = "Work of plain windows, with the time that it adds to what runs before it: of all work,
-- of kernels, of those that compute, and of those that communicate."
-- upon = "plain_window"
with
    sorted as (
        select * replace (is_kernel and is_collective as is_collective)
        from plain_window
        qualify bool_and(not is_kernel or is_collective is not null) over (partition by source_id)
    )
select
    *,
    greatest(0, end_ns - greatest(start_ns, max(end_ns) over earlier)) as more_ns,
    if(
        is_kernel,
        greatest(0, end_ns - greatest(start_ns, max(end_ns) filter (where is_kernel) over earlier)),
        0
    ) as more_kernel_ns,
    if(
        is_kernel and not is_collective,
        greatest(
            0,
            end_ns - greatest(
                start_ns, max(end_ns) filter (where is_kernel and not is_collective) over earlier
            )
        ),
        0
    ) as more_compute_ns,
    if(
        is_collective,
        greatest(
            0, end_ns - greatest(start_ns, max(end_ns) filter (where is_collective) over earlier)
        ),
        0
    ) as more_collective_ns
from sorted
window
    earlier as (
        partition by source_id, device_id
        order by start_ns, end_ns
        rows between unbounded preceding and 1 preceding
    )
