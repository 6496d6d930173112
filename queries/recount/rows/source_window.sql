-- purpose = "Windows of sources whose work is all in steps of the host and begins after their
-- marks, or that have no marks: of the marks, else of the host and the device."
-- upon = "uncut_work"
with
    marks as (
        select source_id, step_kind, step_index, start_ns, start_ns + dur_ns as end_ns
        from step
        where run_id = $run_id and step_kind in ('host', 'device')
    ),
    spans as (
        select uncut_work.*, marks.start_ns as mark_ns
        from uncut_work
        left join marks using (source_id, step_index)
    ),
    outer_marks as (
        select
            source_id,
            min(start_ns) as first_ns,
            max(end_ns) as last_ns,
            bool_and(step_kind = 'host') as is_of_host
        from marks
        group by source_id
    ),
    hosts as (
        select source_id, min(start_ns) as first_ns, max(start_ns + dur_ns) as last_ns
        from slice
        where run_id = $run_id and slice_kind in ('op', 'runtime', 'driver', 'annotation', 'python')
        group by source_id
    )
select
    source_id,
    coalesce(outer_marks.first_ns, least(hosts.first_ns, min(start_ns))) as window_start_ns,
    greatest(
        max(end_ns), if(outer_marks.first_ns is null, hosts.last_ns, outer_marks.last_ns)
    ) as window_end_ns,
    window_end_ns - window_start_ns as elapsed_ns
from spans
left join outer_marks using (source_id)
left join hosts using (source_id)
group by source_id, outer_marks.first_ns, outer_marks.last_ns, hosts.first_ns, hosts.last_ns
having bool_and(outer_marks.first_ns is null or (is_of_host and start_ns >= mark_ns))
