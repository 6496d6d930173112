-- purpose = "Time and modeled work of operators in sources without device work on record, by
-- calling context that owns the work, with the peaks of the processor."
-- source = "docs/metrics.md, sections Findings and Modelled work"
-- needs = ["op_call", "calling_context"]
-- depends = ["host_span", "work_by_context", "processor_peak", "time_at_peak"]
-- parameters = "wanted_run wanted_phase"
-- columns = "source_id name-operator family_name is_heavy total_ns-unit call_count total_flop
-- total_bytes precision_name core_count-processor peak_flop_per_s-processor
-- peak_bytes_per_s-processor compute_ns bandwidth_ns
-- elapsed_ns-window has_launches"
-- has_launches = "BOOLEAN: operators may launch their work, so that their time is not that of it"
-- total_ns-unit = "BIGINT: time of the operator and of those that it calls and that do no work of
-- their own, without others"
with
    windows as materialized(from host_span(wanted_run, wanted_phase)),
    -- the models are asked only about runs that have such sources
    works as materialized(from work_by_context((select any_value(run_id) from windows))),
    calls as (
        select
            calls.source_id,
            coalesce(works.unit_context_id, calls.context_id) as unit_context_id,
            cast(sum(calls.self_ns) as bigint) as total_ns,
            count(*) filter (where unit_context_id = calls.context_id) as call_count,
            any_value(windows.end_ns - windows.start_ns) as elapsed_ns,
            any_value(windows.has_launches) as has_launches
        from op_call as calls
        join windows on windows.source_id = calls.source_id
        left join works on works.source_id = calls.source_id and works.context_id = calls.context_id
        where
            (wanted_run is null or calls.run_id = wanted_run)
            and (
                windows.first_step_index is null
                or calls.step_index between windows.first_step_index and windows.last_step_index
            )
        group by all
    )
select
    calls.source_id,
    works.name,
    works.family_name,
    works.is_heavy,
    calls.total_ns,
    calls.call_count,
    cast(works.flop_count as double) * calls.call_count as total_flop,
    cast(works.accessed_bytes as double) * calls.call_count as total_bytes,
    works.precision_name,
    peaks.core_count,
    peaks.peak_flop_per_s,
    peaks.peak_bytes_per_s,
    time_at_peak(total_flop, peaks.peak_flop_per_s) as compute_ns,
    time_at_peak(total_bytes, peaks.peak_bytes_per_s) as bandwidth_ns,
    calls.elapsed_ns,
    calls.has_launches
from calls
join works on works.source_id = calls.source_id and works.context_id = calls.unit_context_id
left join processor_peak(wanted_run) as peaks on peaks.source_id = calls.source_id
where calls.total_ns > 0
