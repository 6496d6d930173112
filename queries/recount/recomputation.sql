-- purpose = "Operators of the forward pass that run again in the backward pass take their time."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "recomputation"
-- keys = ["source_id", "name"]
-- needs = ["op_call", "calling_context", "slice"]
-- upon = "host_op_call"
-- is_partial = true
with
    derived as (
        select
            *, name || coalesce('|' || input_dims, '') || coalesce('@' || module_path, '') as what
        from host_op_call
        where
            (source_id, event_id) in (
                select (source_id, event_id)
                from slice
                where
                    run_id = $run_id
                    and sequence_id is not null
                    and coalesce(forward_thread_id, 0) = 0
            )
    ),
    again as (
        select *
        from derived
        where
            phase_kind = 'backward'
            and (source_id, what)
            in (select (source_id, what) from derived where phase_kind is distinct from 'backward')
    )
select
    source_id,
    name,
    least(sum(dur_ns), any_value(elapsed_ns)) as win_ns,
    count(*) as call_count,
    max_by(start_ns - from_ns, (dur_ns, - start_ns)) as example_offset_ns,
    first(module_path order by dur_ns desc, start_ns) as module_path,
    any_value(elapsed_ns) as elapsed_ns
from again
where
    dur_ns > 0
    and (source_id, coalesce(parent_event_id, -1)) not in (select (source_id, event_id) from again)
group by source_id, name
