-- purpose = "The steps that a question is restricted to, in each source, and their time on its devices."
-- source = "Zhu 2018 (TBD), sect. 3.4: sampling after warm-up and auto-tuning; docs/metrics.md, section Steps"
-- needs = ["attribution"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable or N..M (step numbers, both included)"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- first_step_index = {type = "BIGINT", doc = "first step; NULL: all work, in a step or not"}
-- last_step_index = {type = "BIGINT", doc = "last step"}
-- start_ns = {type = "BIGINT", doc = "start of the first work of the first step; of all work"}
-- end_ns = {type = "BIGINT", doc = "start of the first work after the last step, or the end of the last work"}
WITH
work AS NOT MATERIALIZED (
    SELECT run_id, source_id, step_index, start_ns, start_ns + coalesce(dur_ns, 0) AS end_ns
    FROM attribution
    WHERE (wanted_run IS NULL OR run_id = wanted_run) AND start_ns IS NOT NULL
),
bounds AS (
    SELECT
        CASE
            WHEN wanted_phase = 'all' THEN NULL
            WHEN regexp_full_match(wanted_phase, '\d{1,18}\.\.\d{1,18}') THEN CAST(split_part(wanted_phase, '..', 1) AS BIGINT)
            ELSE error('phase is to be all, stable or N..M, e.g. 3..7')
        END AS first_step_index,
        CASE WHEN wanted_phase <> 'all' THEN CAST(split_part(wanted_phase, '..', 2) AS BIGINT) END AS last_step_index
)
SELECT
    run_id, source_id, first_step_index, last_step_index,
    min(start_ns) FILTER (WHERE first_step_index IS NULL OR step_index BETWEEN first_step_index AND last_step_index) AS start_ns,
    coalesce(
        min(start_ns) FILTER (WHERE step_index > last_step_index),
        max(end_ns) FILTER (WHERE first_step_index IS NULL OR step_index BETWEEN first_step_index AND last_step_index)
    ) AS end_ns
FROM work CROSS JOIN bounds
GROUP BY run_id, source_id, first_step_index, last_step_index
