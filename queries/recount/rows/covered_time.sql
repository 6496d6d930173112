-- purpose = "Work of plain windows, with the time that it adds to what runs before it: of all work,
-- of kernels, of those that compute, and of those that communicate."
-- upon = "plain_window"
with
    sorted as (
        select
            plain_window.*,
            is_kernel
            and (
                collective_name is not null
                or regexp_matches(
                    coalesce(name, ''),
                    '(?i)nccl|rccl[^r]|all_?(reduce|gather)|reduce_?scatter|all_?to_?all'
                )
            ) as is_collective
        from plain_window
        left join
            (
                select source_id, event_id, collective_name, category_name
                from kernel
                where run_id = $run_id
            ) as kernel using (source_id, event_id)
        qualify bool_and(category_name is null) over (partition by source_id)
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
