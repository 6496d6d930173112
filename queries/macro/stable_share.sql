-- purpose = "How much of the steps of each source its stable phase is: beside the stable steps all of them, and a warning where the stable ones are under half."
-- source = "docs/metrics.md, section Steps and the stable phase"
-- needs = ["attribution"]
-- depends = ["step_span", "stable_phase"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source with steps"}
-- all_count = {type = "BIGINT", doc = "its steps"}
-- stable_count = {type = "BIGINT", doc = "those in the stable phase"}
-- all_ns = {type = "BIGINT", doc = "time of all steps, added up"}
-- stable_ns = {type = "BIGINT", doc = "time of the stable ones; NULL where there are none"}
-- warning = {type = "VARCHAR", doc = "that the stable steps are under half of the steps or of their time; NULL: they are not, or there are none"}
SELECT
    spans.run_id, spans.source_id,
    count(*) AS all_count,
    count(*) FILTER (WHERE is_stable) AS stable_count,
    CAST(sum(elapsed_ns) AS BIGINT) AS all_ns,
    CAST(sum(elapsed_ns) FILTER (WHERE is_stable) AS BIGINT) AS stable_ns,
    CASE
        WHEN least(2 * ratio(stable_count, all_count), 2 * ratio(stable_ns, all_ns)) < 1
        THEN printf('stable are %d of %d steps, %.1f %% of their time', stable_count, all_count, 100 * ratio(stable_ns, all_ns))
    END AS warning
FROM (
    SELECT spans.*, coalesce(step_index BETWEEN first_step_index AND last_step_index, false) AS is_stable
    FROM step_span(wanted_run) AS spans JOIN stable_phase(wanted_run) AS phases USING (run_id, source_id)
) AS spans
GROUP BY spans.run_id, spans.source_id
