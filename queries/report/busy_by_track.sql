-- purpose = "Which busy time is which: of each device how long kernels ran, and how long each kind of interval on its other rows did (programs, asynchronous copies, steps, annotations), all in the time from the first kernel, copy or set to the last."
-- source = "union of the intervals, as in gpu_utilization; docs/metrics.md, section gpu_utilization"
-- needs = ["attribution"]
-- depends = ["device_work", "step_window", "device_rank"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not say"}
-- track_kind = {type = "VARCHAR", doc = "kernels; XLA Modules, Async XLA Ops and so on, as the profiler calls the row; gpu_user_annotation"}
-- busy_ratio = {type = "DOUBLE", doc = "busy_ns / elapsed_ns"}
-- busy_ns = {type = "BIGINT", doc = "time with at least one of them (union)"}
-- sum_ns = {type = "BIGINT", doc = "sum of their durations in that time"}
-- interval_count = {type = "BIGINT", doc = "intervals"}
-- meaning = {type = "VARCHAR", doc = "what is busy then; NULL if unknown"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the steps; of all of them from the first start to the last end of work on any device of the source"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
WITH
windows AS MATERIALIZED (
    FROM step_window($run_id, $phase) WHERE start_ns IS NOT NULL
),
intervals AS (
    SELECT source_id, device_id, 'kernels' AS track_kind, start_ns, end_ns
    FROM device_work
    WHERE run_id = $run_id AND work_kind = 'kernel'
    UNION ALL
    SELECT source_id, device_id, coalesce(category_name, slice_kind), start_ns, start_ns + dur_ns
    FROM slice
    WHERE run_id = $run_id AND slice_kind = 'device_annotation' AND start_ns IS NOT NULL AND dur_ns IS NOT NULL
),
cut AS (
    SELECT
        source_id, device_id, track_kind, windows.end_ns - windows.start_ns AS elapsed_ns,
        greatest(intervals.start_ns, windows.start_ns) AS start_ns, least(intervals.end_ns, windows.end_ns) AS end_ns
    FROM intervals JOIN windows USING (source_id)
    WHERE intervals.start_ns < windows.end_ns AND intervals.end_ns > windows.start_ns
),
reached AS (
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY source_id, device_id, track_kind ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reach_ns
    FROM cut
),
busy AS (
    SELECT
        source_id, device_id, track_kind,
        any_value(elapsed_ns) AS elapsed_ns,
        CAST(sum(greatest(end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)), 0)) AS BIGINT) AS busy_ns,
        CAST(sum(end_ns - start_ns) AS BIGINT) AS sum_ns,
        count(*) AS interval_count
    FROM reached
    GROUP BY source_id, device_id, track_kind
)
SELECT
    device_rank.rank_index, busy.device_id, track_kind, ratio(busy_ns, elapsed_ns) AS busy_ratio, busy_ns, sum_ns, interval_count,
    CASE track_kind
        WHEN 'kernels' THEN 'kernels and operators'
        WHEN 'XLA Modules' THEN 'programs with their waits'
        WHEN 'Async XLA Ops' THEN 'copies and collectives under way'
    END AS meaning,
    elapsed_ns, busy.source_id
FROM busy
LEFT JOIN device_rank
    ON device_rank.run_id = $run_id AND device_rank.source_id = busy.source_id AND device_rank.device_id IS NOT DISTINCT FROM busy.device_id
ORDER BY rank_index NULLS LAST, busy.source_id, busy.device_id NULLS LAST, track_kind <> 'kernels', busy_ns DESC, track_kind
