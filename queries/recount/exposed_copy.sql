-- purpose = "A device only copies where copies run and kernels do not."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "exposed_copy"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "plain_window"
with
    reached as (
        select
            plain_window.*,
            max(end_ns) over all_work as reach_ns,
            max(end_ns) filter (where work_kind = 'kernel') over all_work as kernel_reach_ns,
            greatest(0, end_ns - greatest(start_ns, reach_ns)) as more_ns,
            greatest(0, end_ns - greatest(start_ns, kernel_reach_ns)) as more_kernel_ns
        from plain_window
        -- HLO instructions that copy are told by their category
        where
            source_id not in (
                select source_id from kernel where run_id = $run_id and category_name is not null
            )
        window
            all_work as (
                partition by source_id, device_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            )
    ),
    names as (
        select source_id, device_id, name, sum(dur_ns) as name_ns
        from reached
        where work_kind <> 'kernel'
        group by all
    )
select
    source_id,
    device_id,
    (
        select first(name order by name_ns desc, name)
        from names
        where
            names.source_id = reached.source_id
            and coalesce(names.device_id, -1) = coalesce(reached.device_id, -1)
    ) as name,
    sum(more_ns) - sum(if(work_kind = 'kernel', more_kernel_ns, 0)) as win_ns,
    count(*) filter (where work_kind <> 'kernel') as copy_count,
    sum(dur_ns) filter (where work_kind <> 'kernel') as copy_ns,
    sum(dur_ns) filter (where work_kind <> 'kernel' and name like '%Pageable%') as pageable_ns,
    (
        select sum(size_bytes)
        from transfer
        where
            run_id = $run_id
            and transfer.source_id = reached.source_id
            and transfer.device_id is not distinct from reached.device_id
    ) as size_bytes,
    any_value(elapsed_ns) as elapsed_ns
from reached
group by source_id, device_id
having
    win_ns > 0
    -- of all work of the run
    and (select count(*) from plain_window)
    = (select count(*) from attribution where run_id = $run_id)
