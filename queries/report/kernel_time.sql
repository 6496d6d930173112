-- purpose = "Where device time goes: kernels by name, with launches, total, mean, shortest, longest and share."
-- source = "Zhu 2018 (TBD), Tables V and VI: duration as share of total kernel time"
-- needs = ["kernel"]
-- depends = ["kernel_launch", "step_window"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "all, stable or N..M: kernels launched in these steps only", default = "all"}
-- [columns]
-- name = {type = "VARCHAR", doc = "kernel name, in full"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations; kernels that overlap count each"}
-- mean_ns = {type = "DOUBLE", doc = "mean duration"}
-- min_ns = {type = "BIGINT", doc = "shortest launch, of those given one by one"}
-- max_ns = {type = "BIGINT", doc = "longest launch, of those given one by one"}
-- share_ratio = {type = "DOUBLE", doc = "total_ns / sum of all kernel durations of the run, or of these steps"}
WITH
of_steps AS (
    SELECT source_id, event_id
    FROM attribution JOIN step_window($run_id, $phase) USING (run_id, source_id)
    WHERE $phase <> 'all' AND run_id = $run_id AND step_index BETWEEN first_step_index AND last_step_index
)
SELECT
    name,
    CAST(sum(launch_count) AS BIGINT) AS launch_count,
    CAST(sum(dur_ns) AS BIGINT) AS total_ns,
    ratio(sum(dur_ns), sum(launch_count) FILTER (WHERE dur_ns IS NOT NULL)) AS mean_ns,
    min(dur_ns) FILTER (WHERE launch_count = 1) AS min_ns,
    max(dur_ns) FILTER (WHERE launch_count = 1) AS max_ns,
    ratio(sum(dur_ns), sum(sum(dur_ns)) OVER ()) AS share_ratio
FROM kernel_launch
WHERE run_id = $run_id AND ($phase = 'all' OR (source_id, event_id) IN (SELECT (source_id, event_id) FROM of_steps))
GROUP BY name
ORDER BY total_ns DESC NULLS LAST, name
