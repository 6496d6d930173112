-- purpose = "The steps of two runs that a comparison is about, of the sources that its times are from."
-- source = "docs/metrics.md, section Comparing runs"
-- needs = ["step"]
-- depends = ["step_span", "step_window", "compared_source"]
-- [parameters]
-- a_run = {type = "VARCHAR", doc = "run A"}
-- b_run = {type = "VARCHAR", doc = "run B"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable or N..M (step numbers, both included)"}
-- grouping_kind = {type = "VARCHAR", doc = "kernel, op, layer, phase or category"}
-- [columns]
-- side = {type = "VARCHAR", doc = "a or b"}
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- step_kind = {type = "VARCHAR", doc = "host, device or detected, as of step_span; without those reported; of a log of layers iteration"}
-- step_index = {type = "BIGINT", doc = "number of the step"}
-- elapsed_ns = {type = "BIGINT", doc = "its time, as step_span has it; of one reported the longest of its devices"}
-- is_shared = {type = "BOOLEAN", doc = "the other run has steps too, so that runs are compared by steps"}
WITH
layers AS MATERIALIZED (FROM layer_stat WHERE run_id IN (a_run, b_run)),
spans AS (
    SELECT run_id, source_id, step_kind, step_index, elapsed_ns
    FROM step_span(a_run) LEFT JOIN step_window(a_run, wanted_phase) AS chosen USING (run_id, source_id)
    WHERE wanted_phase = 'all' OR step_index BETWEEN chosen.first_step_index AND chosen.last_step_index
    UNION
    SELECT run_id, source_id, step_kind, step_index, elapsed_ns
    FROM step_span(b_run) LEFT JOIN step_window(b_run, wanted_phase) AS chosen USING (run_id, source_id)
    WHERE wanted_phase = 'all' OR step_index BETWEEN chosen.first_step_index AND chosen.last_step_index
),
steps AS (
    FROM spans
    UNION ALL
    SELECT run_id, source_id, step_kind, step_index, max(dur_ns)
    FROM step
    WHERE
        run_id IN (a_run, b_run) AND wanted_phase = 'all' AND step_kind = 'reported' AND step_index IS NOT NULL
        AND source_id NOT IN (SELECT source_id FROM spans)
    GROUP BY run_id, source_id, step_kind, step_index
    UNION ALL
    -- of several nets in one log the iterations are of one each
    SELECT run_id, source_id, 'iteration', iteration_index, any_value(dur_ns)
    FROM layers
    WHERE
        wanted_phase = 'all' AND statistic_kind = 'single' AND name IS NULL AND phase_kind IS NULL
        AND iteration_index IS NOT NULL
    GROUP BY run_id, source_id, iteration_index
    QUALIFY max(count(*)) OVER (PARTITION BY run_id, source_id) = 1
),
sources AS (SELECT DISTINCT source_id FROM compared_source(a_run, b_run, grouping_kind)),
sides AS (SELECT 'a' AS side, a_run AS run_id UNION ALL SELECT 'b', b_run)
SELECT
    sides.side, sides.run_id, steps.source_id, steps.step_kind, steps.step_index, steps.elapsed_ns,
    min(sides.side) OVER () <> max(sides.side) OVER () AS is_shared
FROM steps JOIN sides ON sides.run_id = steps.run_id
WHERE steps.source_id IN (SELECT source_id FROM sources) OR NOT EXISTS (FROM sources)
