-- purpose = "Steps of two runs that a comparison covers, in the sources of its times."
-- source = "docs/metrics.md, section Comparing runs"
-- needs = ["step"]
-- depends = ["step_span", "step_window", "compared_source"]
-- parameters = "a_run b_run wanted_phase grouping_kind"
-- columns = "side run_id source_id step_kind step_index-number elapsed_ns is_shared"
-- step_kind = "VARCHAR: host, device or detected, as in step_span; else reported; iteration for a
-- log of layers"
-- elapsed_ns = "time of the step, as in step_span; if reported, the longest of its devices"
-- is_shared = "the other run also has steps, so runs are compared by steps"
with
    layers as materialized(from layer_stat where run_id in (a_run, b_run)),
    spans as (
        select run_id, source_id, step_kind, step_index, elapsed_ns
        from step_span(a_run)
        left join step_window(a_run, wanted_phase) as chosen using (run_id, source_id)
        where
            wanted_phase = 'all'
            or step_index between chosen.first_step_index and chosen.last_step_index
        union
        select run_id, source_id, step_kind, step_index, elapsed_ns
        from step_span(b_run)
        left join step_window(b_run, wanted_phase) as chosen using (run_id, source_id)
        where
            wanted_phase = 'all'
            or step_index between chosen.first_step_index and chosen.last_step_index
    ),
    steps as (
        from spans
        union all
        select run_id, source_id, step_kind, step_index, max(dur_ns)
        from step
        where
            run_id in (a_run, b_run)
            and wanted_phase = 'all'
            and step_kind = 'reported'
            and step_index is not null
            and source_id not in (select source_id from spans)
        group by run_id, source_id, step_kind, step_index
        union all
        -- of several nets in one log the iterations are of one each
        select run_id, source_id, 'iteration', iteration_index, any_value(dur_ns)
        from layers
        where
            wanted_phase = 'all'
            and statistic_kind = 'single'
            and name is null
            and phase_kind is null
            and iteration_index is not null
        group by run_id, source_id, iteration_index
        qualify max(count(*)) over (partition by run_id, source_id) = 1
    ),
    sources as (select distinct source_id from compared_source(a_run, b_run, grouping_kind)),
    sides as (
        select 'a' as side, a_run as run_id
        union all
        select 'b', b_run
    )
select
    sides.side,
    sides.run_id,
    steps.source_id,
    steps.step_kind,
    steps.step_index,
    steps.elapsed_ns,
    min(sides.side) over () <> max(sides.side) over () as is_shared
from steps
join sides on sides.run_id = steps.run_id
where steps.source_id in (select source_id from sources) or not exists (from sources)
