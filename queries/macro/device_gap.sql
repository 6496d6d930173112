-- purpose = "Every time in which a device was idle, what ended it, and until when its launch had not begun."
-- source = "docs/metrics.md, section gaps and largest_gaps"
-- needs = ["attribution"]
-- depends = ["device_work", "step_window"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable or N..M (step numbers, both included)"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not say"}
-- gap_start_ns = {type = "BIGINT", doc = "end of the work before it, not before the steps"}
-- gap_end_ns = {type = "BIGINT", doc = "start of the work after it, not after the steps"}
-- host_end_ns = {type = "BIGINT", doc = "where the launch of the next work began: until then the host was late; gap_start_ns if it had begun before"}
-- call_ns = {type = "BIGINT", doc = "time of the gap in which that launch call was in flight"}
-- rest_kind = {type = "VARCHAR", doc = "what the gap waited for after host_end_ns: launch, graph, communication, copy, stream, queue or unknown"}
-- reason = {type = "VARCHAR", doc = "of unknown: why"}
-- previous_event_id = {type = "BIGINT", doc = "work that ended where the gap begins; NULL where nothing is before it"}
-- next_event_id = {type = "BIGINT", doc = "work that ends the gap; NULL where there is none"}
-- launch_thread_id = {type = "BIGINT", doc = "thread that launched that work"}
-- window_start_ns = {type = "BIGINT", doc = "start of the steps"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the steps"}
WITH
windows AS MATERIALIZED (
    SELECT * FROM step_window(wanted_run, wanted_phase) WHERE start_ns IS NOT NULL
),
work AS MATERIALIZED (
    SELECT * FROM device_work WHERE wanted_run IS NULL OR run_id = wanted_run
),
reached AS (
    SELECT
        run_id, source_id, device_id, start_ns, event_id,
        max(end_ns) OVER (
            PARTITION BY run_id, source_id, device_id ORDER BY start_ns, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reach_ns
    FROM work
    UNION ALL
    -- the time after the last work
    SELECT run_id, source_id, device_id, NULL, NULL, max(end_ns) FROM work GROUP BY run_id, source_id, device_id
),
idle AS MATERIALIZED (
    SELECT
        reached.run_id, reached.source_id, reached.device_id, reached.event_id, reached.reach_ns,
        greatest(coalesce(reached.reach_ns, windows.start_ns), windows.start_ns) AS gap_start_ns,
        least(coalesce(reached.start_ns, windows.end_ns), windows.end_ns) AS gap_end_ns,
        windows.start_ns AS window_start_ns, windows.end_ns - windows.start_ns AS elapsed_ns
    FROM reached
    JOIN windows ON windows.run_id = reached.run_id AND windows.source_id = reached.source_id
    WHERE gap_end_ns > gap_start_ns
),
-- of several that end together it is the last of the file
ended AS (
    SELECT
        run_id, source_id, device_id, end_ns,
        max(event_id) AS event_id,
        arg_max(work_class, event_id) AS work_class,
        arg_max_null(stream_id, event_id) AS stream_id,
        arg_max_null(launch_event_id, event_id) AS launch_event_id
    FROM work
    GROUP BY run_id, source_id, device_id, end_ns
),
told AS (
    SELECT
        idle.*, work.launch_thread_id, ended.event_id AS previous_event_id,
        coalesce(work.launch_end_ns, work.launch_start_ns) AS launch_end_ns,
        CASE
            WHEN idle.event_id IS NULL THEN 'no work after it'
            WHEN work.launch_start_ns IS NULL THEN coalesce(work.launch_reason, 'launch not in the file')
            WHEN work.launch_start_ns > work.start_ns THEN 'work begins before its launch: the clocks disagree'
            WHEN work.launch_start_ns < idle.gap_start_ns AND idle.reach_ns IS NULL THEN 'no work before it'
        END AS reason,
        CASE
            WHEN reason IS NOT NULL THEN 'unknown'
            WHEN work.launch_start_ns >= coalesce(idle.reach_ns, idle.gap_start_ns) OR launch_end_ns >= idle.reach_ns THEN 'launch'
            WHEN ended.launch_event_id = work.launch_event_id THEN 'graph'
            WHEN ended.work_class = 'communication' THEN 'communication'
            WHEN ended.work_class <> 'compute' THEN 'copy'
            WHEN ended.stream_id IS DISTINCT FROM work.stream_id THEN 'stream'
            ELSE 'queue'
        END AS rest_kind,
        -- until then the host had not begun to launch
        CASE
            WHEN rest_kind = 'launch' THEN greatest(least(work.launch_start_ns, idle.gap_end_ns), idle.gap_start_ns)
            ELSE idle.gap_start_ns
        END AS host_end_ns
    FROM idle
    LEFT JOIN work
        ON work.run_id = idle.run_id AND work.source_id = idle.source_id AND work.event_id = idle.event_id
    LEFT JOIN ended
        ON ended.run_id = idle.run_id AND ended.source_id = idle.source_id
        AND ended.device_id IS NOT DISTINCT FROM idle.device_id AND ended.end_ns = idle.reach_ns
)
SELECT
    run_id, source_id, device_id, gap_start_ns, gap_end_ns, host_end_ns,
    CASE WHEN rest_kind = 'launch' THEN greatest(least(launch_end_ns, gap_end_ns) - host_end_ns, 0) ELSE 0 END AS call_ns,
    rest_kind, reason, previous_event_id, event_id AS next_event_id, launch_thread_id, window_start_ns, elapsed_ns
FROM told
