-- purpose = "A device is idle where no row is: in the window of the marked steps, or of the host
-- and the device without marks."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "overlap"
-- keys = ["source_id", "device_id", "work_class"]
-- needs = ["attribution"]
-- is_partial = true
with
    work as (
        select source_id, device_id, start_ns, start_ns + dur_ns as end_ns, step_index
        from attribution
        where run_id = $run_id and dur_ns > 0
    ),
    marks as (
        select source_id, min(start_ns) as start_ns, max(start_ns + dur_ns) as end_ns
        from step
        where run_id = $run_id and step_kind = 'host'
        group by source_id
    ),
    hosts as (
        select source_id, min(start_ns) as start_ns, max(start_ns + dur_ns) as end_ns
        from slice
        where run_id = $run_id and slice_kind in ('op', 'runtime', 'driver', 'annotation', 'python')
        group by source_id
    ),
    -- sources whose window is plain: all work in marked steps, or neither marks nor steps
    windows as (
        select source_id, greatest(marks.end_ns, max(work.end_ns)) - marks.start_ns as elapsed_ns
        from work
        join marks using (source_id)
        group by source_id, marks.start_ns, marks.end_ns
        having min(work.start_ns) >= marks.start_ns and bool_and(work.step_index is not null)
        union all
        select
            source_id,
            greatest(hosts.end_ns, max(work.end_ns)) - least(hosts.start_ns, min(work.start_ns))
        from work
        join hosts using (source_id)
        where source_id not in (select source_id from step where run_id = $run_id)
        group by source_id, hosts.start_ns, hosts.end_ns
    ),
    reached as (
        select
            *,
            max(end_ns) over (
                partition by source_id, device_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from work
    ),
    busy as (
        select
            source_id,
            device_id,
            sum(greatest(0, end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)))) as busy_ns
        from reached
        group by source_id, device_id
    )
select
    source_id,
    device_id,
    'idle' as work_class,
    elapsed_ns - busy_ns as exposed_ns,
    elapsed_ns,
    (elapsed_ns - busy_ns) / elapsed_ns as share_ratio
from busy
join windows using (source_id)
