-- purpose = "The stable phase of each source: the longest run of consecutive steps of which none takes more than 11/9 as long as another (10 % to either side of the middle) or launches 1 % more kernels."
-- source = "Zhu 2018 (TBD), sect. 3.4: sampling after warm-up and auto-tuning; docs/metrics.md, section Steps and the stable phase"
-- needs = ["attribution"]
-- depends = ["step_span", "unlike_steps"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source: each that has steps, or work on a device"}
-- first_step_index = {type = "BIGINT", doc = "first step of the phase; NULL where there is none"}
-- last_step_index = {type = "BIGINT", doc = "last step of it"}
-- step_count = {type = "BIGINT", doc = "steps in it; 0 where there is none"}
-- reason = {type = "VARCHAR", doc = "why there is none"}
WITH
spans AS MATERIALIZED (
    FROM step_span(wanted_run)
),
-- parts of 256 steps: pairs of all steps would be too many where there are a hundred thousand
numbered AS MATERIALIZED (
    SELECT *, (row_number() OVER (PARTITION BY run_id, source_id ORDER BY step_index) - 1) // 256 AS part_index
    FROM spans
),
parts AS MATERIALIZED (
    SELECT
        run_id, source_id, part_index,
        min(elapsed_ns) AS least_ns, max(elapsed_ns) AS most_ns, min(kernel_count) AS least_count, max(kernel_count) AS most_count
    FROM numbered
    GROUP BY run_id, source_id, part_index
),
-- where to look for the latest step that is unlike a step: in its own part, else in the latest that has one
places AS (
    SELECT numbered.*, part_index AS wanted_index FROM numbered
    UNION ALL
    SELECT later.*, max(parts.part_index)
    FROM numbered AS later
    JOIN parts
        ON parts.run_id = later.run_id AND parts.source_id = later.source_id AND parts.part_index < later.part_index
        AND (
            unlike_steps(parts.least_ns, later.elapsed_ns, parts.least_count, later.kernel_count)
            OR unlike_steps(parts.most_ns, later.elapsed_ns, parts.most_count, later.kernel_count)
        )
    GROUP BY ALL
),
-- a pair of steps that cannot be in one phase: the later one, and the latest before it
broken AS (
    SELECT later.run_id, later.source_id, later.step_index, max(earlier.step_index) AS broken_index
    FROM places AS later
    JOIN numbered AS earlier
        ON earlier.run_id = later.run_id AND earlier.source_id = later.source_id
        AND earlier.part_index = later.wanted_index AND earlier.step_index < later.step_index
        AND unlike_steps(earlier.elapsed_ns, later.elapsed_ns, earlier.kernel_count, later.kernel_count)
    GROUP BY later.run_id, later.source_id, later.step_index
),
-- what breaks a run at a step by itself: a step before it is not there, or its time is not known
gaps AS (
    SELECT
        spans.*, broken_index,
        CASE
            WHEN elapsed_ns IS NULL OR elapsed_ns <= 0 THEN step_index
            WHEN lag(step_index) OVER before IS DISTINCT FROM step_index - 1 OR lag(elapsed_ns) OVER before IS NULL
            THEN step_index - 1
        END AS gap_index
    FROM spans LEFT JOIN broken USING (run_id, source_id, step_index)
    WINDOW before AS (PARTITION BY run_id, source_id ORDER BY step_index)
),
runs AS (
    SELECT
        run_id, source_id, step_index,
        step_index - max(greatest(broken_index, gap_index)) OVER (
            PARTITION BY run_id, source_id ORDER BY step_index ROWS UNBOUNDED PRECEDING
        ) AS run_length
    FROM gaps
),
longest AS (
    SELECT
        run_id, source_id,
        count(*) AS all_count,
        max(run_length) AS step_count,
        max(step_index) FILTER (WHERE run_length = most) AS last_step_index
    FROM (SELECT *, max(run_length) OVER (PARTITION BY run_id, source_id) AS most FROM runs)
    GROUP BY run_id, source_id
),
sources AS (
    SELECT run_id, source_id FROM longest
    UNION
    SELECT run_id, source_id FROM attribution WHERE wanted_run IS NULL OR run_id = wanted_run
)
SELECT
    run_id, source_id,
    CASE WHEN step_count > 1 THEN last_step_index - step_count + 1 END AS first_step_index,
    CASE WHEN step_count > 1 THEN last_step_index END AS last_step_index,
    CASE WHEN step_count > 1 THEN step_count ELSE 0 END AS step_count,
    CASE
        WHEN all_count IS NULL THEN 'no steps: nothing marks them, and kernels do not repeat so that they show'
        WHEN all_count = 1 THEN 'one step only'
        WHEN coalesce(step_count, 0) < 2 THEN 'no two steps in a row within 10 % and with the same kernels'
    END AS reason
FROM sources LEFT JOIN longest USING (run_id, source_id)
