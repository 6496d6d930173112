-- purpose = "The steps that a question is restricted to, in each source, and their time on its devices."
-- source = "Zhu 2018 (TBD), sect. 3.4: sampling after warm-up and auto-tuning; docs/metrics.md, section Steps and the stable phase"
-- needs = ["attribution"]
-- depends = ["step_span", "stable_phase"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable (the steps that are in the stable phase of each source of the run) or N..M (step numbers, both included)"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- first_step_index = {type = "BIGINT", doc = "first step; NULL: all work, in a step or not"}
-- last_step_index = {type = "BIGINT", doc = "last step"}
-- start_ns = {type = "BIGINT", doc = "start of the first work of the first step; of all work"}
-- end_ns = {type = "BIGINT", doc = "end of the last step, as step_span has it; of all work"}
WITH
everything AS NOT MATERIALIZED (
    SELECT run_id, source_id, start_ns, start_ns + coalesce(dur_ns, 0) AS end_ns
    FROM attribution
    WHERE (wanted_run IS NULL OR run_id = wanted_run) AND wanted_phase = 'all'
    UNION ALL
    SELECT run_id, source_id, NULL AS start_ns, NULL AS end_ns
    FROM op_call
    WHERE (wanted_run IS NULL OR run_id = wanted_run) AND wanted_phase = 'all'
),
phases AS (
    SELECT
        run_id,
        CASE
            WHEN bool_or(reason IS NOT NULL)
            THEN error('no stable phase in source ' || arg_min(source_id, source_id) FILTER (WHERE reason IS NOT NULL) || ': ' || arg_min(reason, source_id) FILTER (WHERE reason IS NOT NULL) || '. Ask for phase all, or for steps N..M')
            WHEN max(first_step_index) > min(last_step_index)
            THEN error('the sources of run ' || run_id || ' have stable phases without a step in common. Ask for phase all, or for steps N..M')
            ELSE max(first_step_index)
        END AS first_step_index,
        min(last_step_index) AS last_step_index
    FROM stable_phase(wanted_run)
    WHERE wanted_phase = 'stable'
    GROUP BY run_id
),
numbers AS (
    SELECT
        CASE
            WHEN wanted_phase IN ('all', 'stable') THEN NULL
            WHEN NOT regexp_full_match(wanted_phase, '\d{1,18}\.\.\d{1,18}')
            THEN error('there is no phase "' || wanted_phase || '": phase must be all, stable or N..M, e.g. 3..7')
            WHEN CAST(split_part(wanted_phase, '..', 1) AS BIGINT) > CAST(split_part(wanted_phase, '..', 2) AS BIGINT)
            THEN error('phase ' || wanted_phase || ' ends before it begins: write the smaller number first')
            ELSE CAST(split_part(wanted_phase, '..', 1) AS BIGINT)
        END AS first_step_index,
        CASE WHEN wanted_phase NOT IN ('all', 'stable') THEN CAST(split_part(wanted_phase, '..', 2) AS BIGINT) END AS last_step_index
),
chosen AS (
    SELECT
        spans.*,
        coalesce(phases.first_step_index, numbers.first_step_index) AS first_asked,
        coalesce(phases.last_step_index, numbers.last_step_index) AS last_asked
    FROM step_span(wanted_run) AS spans
    CROSS JOIN numbers
    LEFT JOIN phases USING (run_id)
    WHERE wanted_phase <> 'all' AND step_index BETWEEN first_asked AND last_asked
),
found AS (
    SELECT CASE WHEN wanted_phase <> 'all' AND count(*) = 0 THEN error('the run has no ' || CASE wanted_phase WHEN 'stable' THEN 'steps, so that none are stable' ELSE 'steps ' || wanted_phase END || '. The report steps lists those that it has. Ask for phase all') ELSE true END AS is_found
    FROM chosen
)
SELECT
    run_id, source_id, CAST(NULL AS BIGINT) AS first_step_index, CAST(NULL AS BIGINT) AS last_step_index,
    min(start_ns) AS start_ns, max(end_ns) AS end_ns
FROM everything
GROUP BY run_id, source_id
UNION ALL
SELECT run_id, source_id, first_step_index, last_step_index, start_ns, end_ns
FROM found
LEFT JOIN (
    SELECT
        run_id, source_id, first_asked AS first_step_index, last_asked AS last_step_index,
        min(start_ns) AS start_ns, arg_max(end_ns, step_index) AS end_ns
    FROM chosen
    GROUP BY run_id, source_id, first_asked, last_asked
) ON is_found
WHERE run_id IS NOT NULL
