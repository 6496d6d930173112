-- purpose = "Operator calls of sources without device work, in their window, each with its modeled
-- work."
-- source = "docs/metrics.md, sections Findings and Modelled work"
-- needs = ["op_call", "calling_context"]
-- depends = ["host_window"]
-- parameters = "wanted_run wanted_phase"
-- columns = "run_id source_id thread_id event_id parent_event_id context_id name start_ns dur_ns
-- is_outermost window_start_ns elapsed_ns-window family_name
-- is_heavy flop_count read_bytes write_bytes accessed_bytes"
-- thread_id = "BIGINT: its thread"
-- parent_event_id = "BIGINT: the operator that called it; NULL without one"
-- is_outermost = "BOOLEAN: no operator that began before on its thread is still running"
-- window_start_ns = "BIGINT: start of the window"
with
    windows as materialized(from host_window(wanted_run, wanted_phase)),
    contexts as materialized(
        select
            source_id,
            context_id,
            op_model(name, input_dims, input_types, input_strides, concrete_inputs) as work
        from calling_context
        where
            (wanted_run is null or run_id = wanted_run)
            and context_kind = 'op'
            and source_id in (select source_id from windows)
    ),
    -- before the window is looked at: what began earlier can still be running in it
    all_calls as (
        select
            *,
            coalesce(
                max(start_ns + dur_ns) over (
                    partition by source_id, thread_id
                    order by start_ns, dur_ns desc, event_id
                    rows between unbounded preceding and 1 preceding
                )
                <= start_ns,
                true
            ) as is_outermost
        from op_call
        where
            (wanted_run is null or run_id = wanted_run)
            and source_id in (select source_id from windows)
    )
select
    calls.run_id,
    calls.source_id,
    calls.thread_id,
    calls.event_id,
    calls.parent_event_id,
    calls.context_id,
    calls.name,
    calls.start_ns,
    calls.dur_ns,
    calls.is_outermost,
    windows.start_ns as window_start_ns,
    windows.end_ns - windows.start_ns as elapsed_ns,
    contexts.work.family_name,
    contexts.work.is_heavy,
    contexts.work.flop_count,
    contexts.work.read_bytes,
    contexts.work.write_bytes,
    contexts.work.accessed_bytes
from all_calls as calls
join
    windows
    on windows.run_id = calls.run_id
    and windows.source_id = calls.source_id
    and calls.start_ns >= windows.start_ns
    and calls.start_ns < windows.end_ns
left join
    contexts on contexts.source_id = calls.source_id and contexts.context_id = calls.context_id
