-- purpose = "Stacks have each moment of a thread once that something runs on it."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "stacks"
-- needs = ["slice"]
-- is_sum = true
with
    run as (
        select
            start_ns,
            start_ns + dur_ns as end_ns,
            max(start_ns + dur_ns) over (
                partition by source_id, process_id, thread_id, track_name
                order by start_ns, dur_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from slice
        where
            run_id = $run_id
            and slice_kind in ('op', 'python', 'annotation', 'runtime', 'driver')
            and start_ns is not null
            and (source_id, event_id) not in (
                select (source_id, event_id)
                from step
                where run_id = $run_id and event_id is not null
            )
    )
select greatest(0, end_ns - greatest(start_ns, coalesce(reach_ns, start_ns))) as self_host_ns
from run
