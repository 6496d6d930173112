-- purpose = "Share of the stable phase in the steps of each source, with a warning below half."
-- source = "docs/metrics.md, section Steps and the stable phase"
-- needs = ["attribution"]
-- depends = ["step_span", "stable_phase"]
-- is_kept = true
-- parameters = "wanted_run"
-- columns = "run_id source_id all_count stable_count all_ns stable_ns warning"
-- all_count = "BIGINT: steps"
-- stable_count = "BIGINT: steps in the stable phase"
-- all_ns = "BIGINT: total time of all steps"
-- stable_ns = "BIGINT: total time of the stable steps; NULL if there are none"
-- warning = "VARCHAR: that the stable steps are less than half of the steps or of their time;
-- NULL if not, or without steps"
select
    spans.run_id,
    spans.source_id,
    count(*) as all_count,
    count(*) filter (where is_stable) as stable_count,
    cast(sum(elapsed_ns) as bigint) as all_ns,
    cast(sum(elapsed_ns) filter (where is_stable) as bigint) as stable_ns,
    case
        when least(2 * ratio(stable_count, all_count), 2 * ratio(stable_ns, all_ns)) < 1
        then
            printf(
                'stable are %d of %d steps, %.1f %% of their time',
                stable_count,
                all_count,
                100 * ratio(stable_ns, all_ns)
            )
    end as warning
from
    (
        select
            spans.*,
            coalesce(step_index between first_step_index and last_step_index, false) as is_stable
        from step_span(wanted_run) as spans
        join stable_phase(wanted_run) as phases using (run_id, source_id)
    ) as spans
group by spans.run_id, spans.source_id
