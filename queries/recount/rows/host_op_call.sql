-- purpose = "Operator calls of sources that launch nothing, in their window: from the first mark of
-- a step, else the first operator, to the last. Outermost: no operator of the thread runs around."
with
    marks as (
        select source_id, min(start_ns) as first_ns, max(start_ns + dur_ns) as last_ns
        from step
        where run_id = $run_id
        group by source_id
        having bool_and(step_kind = 'host' and dur_ns is not null)
    ),
    called as (
        select
            op_call.*,
            input_dims,
            input_types,
            concrete_inputs,
            module_path,
            phase_kind,
            start_ns + dur_ns as end_ns,
            max(start_ns + dur_ns) over (
                partition by source_id, thread_id
                order by start_ns, dur_ns desc, event_id
                rows between unbounded preceding and 1 preceding
            ) as reach_ns,
            min(start_ns) over (partition by source_id) as call_first_ns,
            max(start_ns + dur_ns) over (partition by source_id) as call_last_ns
        from op_call
        left join calling_context using (run_id, source_id, context_id)
        where
            run_id = $run_id
            and source_id not in (select source_id from attribution where run_id = $run_id)
            and source_id not in (select source_id from launch_call where run_id = $run_id)
    )
select
    called.*,
    reach_ns is null or reach_ns <= start_ns as is_outermost,
    coalesce(first_ns, call_first_ns) as from_ns,
    coalesce(last_ns, call_last_ns) - from_ns as elapsed_ns
from called
left join marks using (source_id)
where
    start_ns >= coalesce(first_ns, call_first_ns)
    and start_ns < coalesce(last_ns, call_last_ns)
    and (
        first_ns is not null or source_id not in (select source_id from step where run_id = $run_id)
    )
