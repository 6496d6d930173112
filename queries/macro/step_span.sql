-- purpose = "The steps that count in each source: those marked on the host, else on the device, else those detected; with their time on the devices and their work."
-- source = "Zhu 2018 (TBD), sect. 3.4; docs/metrics.md, section Steps and the stable phase"
-- needs = ["step"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- step_index = {type = "BIGINT", doc = "number of the step"}
-- step_kind = {type = "VARCHAR", doc = "host, device or detected"}
-- mark_start_ns = {type = "BIGINT", doc = "start of the mark: the span that the loop, the device or the detection gives the step"}
-- mark_ns = {type = "BIGINT", doc = "its duration"}
-- start_ns = {type = "BIGINT", doc = "start of the first work launched in the step; NULL without any"}
-- end_ns = {type = "BIGINT", doc = "start of the first work of the next step; of the last one (or before a step that is not there) the end of its work or of its mark, the later; of its work where that begins before the mark"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the step: end_ns - start_ns; without work on a device mark_ns"}
-- work_count = {type = "BIGINT", doc = "kernels, copies and sets launched in it"}
-- kernel_count = {type = "BIGINT", doc = "kernels launched in it"}
-- kernel_ns = {type = "BIGINT", doc = "sum of their durations"}
WITH
recorded AS MATERIALIZED (
    FROM step
    WHERE (wanted_run IS NULL OR run_id = wanted_run) AND step_kind IN ('host', 'device', 'detected') AND step_index IS NOT NULL
),
marks AS (
    SELECT
        run_id, source_id, step_index, step_kind,
        min(start_ns) AS mark_start_ns,
        max(start_ns + dur_ns) AS mark_end_ns
    FROM recorded
    GROUP BY run_id, source_id, step_index, step_kind
    QUALIFY
        list_position(['host', 'device', 'detected'], step_kind)
        = min(list_position(['host', 'device', 'detected'], step_kind)) OVER (PARTITION BY run_id, source_id)
),
works AS (
    SELECT
        run_id, source_id, step_index,
        min(start_ns) AS start_ns,
        max(start_ns + coalesce(dur_ns, 0)) AS work_end_ns,
        count(*) AS work_count,
        count(*) FILTER (WHERE work_kind = 'kernel') AS kernel_count,
        CAST(sum(dur_ns) FILTER (WHERE work_kind = 'kernel') AS BIGINT) AS kernel_ns
    FROM attribution
    WHERE (wanted_run IS NULL OR run_id = wanted_run) AND step_index IS NOT NULL
    GROUP BY run_id, source_id, step_index
),
placed AS (
    SELECT
        marks.*, works.* EXCLUDE (run_id, source_id, step_index),
        lead(marks.step_index) OVER following = marks.step_index + 1 AS is_followed,
        lead(start_ns) OVER following AS next_start_ns
    FROM marks LEFT JOIN works USING (run_id, source_id, step_index)
    WINDOW following AS (PARTITION BY marks.run_id, marks.source_id ORDER BY marks.step_index)
),
ended AS (
    SELECT
        *,
        CASE
            WHEN start_ns IS NULL THEN NULL
            WHEN is_followed AND next_start_ns IS NOT NULL THEN next_start_ns
            -- work before its own step: the clocks of host and device disagree, so the mark tells nothing of it
            WHEN start_ns < mark_start_ns THEN work_end_ns
            ELSE greatest(work_end_ns, mark_end_ns)
        END AS end_ns
    FROM placed
)
SELECT
    run_id, source_id, step_index, step_kind, mark_start_ns, mark_end_ns - mark_start_ns AS mark_ns,
    start_ns, end_ns,
    coalesce(end_ns - start_ns, mark_end_ns - mark_start_ns) AS elapsed_ns,
    coalesce(work_count, 0) AS work_count,
    coalesce(kernel_count, 0) AS kernel_count,
    coalesce(kernel_ns, CASE WHEN kernel_count IS NULL THEN 0 END) AS kernel_ns
FROM ended
