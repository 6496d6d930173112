-- purpose = "Work of sources whose window is plain: all of it in marked steps of the host, or no
-- steps at all. With the window: from the first mark, else the first work or event of the host, to
-- the last."
-- upon = "uncut_work"
with
    marks as (
        select source_id, min(start_ns) as first_ns, max(start_ns + dur_ns) as last_ns
        from step
        where run_id = $run_id
        group by source_id
        having bool_and(step_kind = 'host' and dur_ns is not null)
    ),
    hosts as (
        select source_id, min(start_ns) as first_ns, max(start_ns + dur_ns) as last_ns
        from slice
        where run_id = $run_id and slice_kind in ('op', 'runtime', 'driver', 'annotation', 'python')
        group by source_id
    )
select
    uncut_work.*,
    least(
        coalesce(marks.first_ns, hosts.first_ns, start_ns), min(start_ns) over of_source
    ) as from_ns,
    greatest(coalesce(marks.last_ns, hosts.last_ns, end_ns), max(end_ns) over of_source)
    - from_ns as elapsed_ns
from uncut_work
left join marks using (source_id)
left join hosts using (source_id)
where
    marks.first_ns is not null
    or source_id not in (select source_id from step where run_id = $run_id)
window of_source as (partition by source_id)
-- where work begins before the mark of its step, clocks may be others
qualify marks.first_ns is null or min(start_ns) over of_source >= marks.first_ns
