-- purpose = "Framework operators by name, with calls and time on the host."
-- source = "operator slices as the profiler records them"
-- needs = ["slice"]
-- depends = ["step_window"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "all, stable or N..M: operators called in these steps only", default = "all"}
-- [columns]
-- name = {type = "VARCHAR", doc = "operator"}
-- call_count = {type = "BIGINT", doc = "calls"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations on the host; an operator called by another counts in both"}
-- mean_ns = {type = "DOUBLE", doc = "mean duration"}
-- min_ns = {type = "BIGINT", doc = "shortest call"}
-- max_ns = {type = "BIGINT", doc = "longest call"}
WITH
of_steps AS (
    SELECT source_id, event_id
    FROM op_call JOIN step_window($run_id, $phase) USING (run_id, source_id)
    WHERE $phase <> 'all' AND run_id = $run_id AND step_index BETWEEN first_step_index AND last_step_index
)
SELECT
    name,
    count(*) AS call_count,
    CAST(sum(dur_ns) AS BIGINT) AS total_ns,
    avg(dur_ns) AS mean_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns
FROM slice
WHERE
    run_id = $run_id AND slice_kind = 'op'
    AND ($phase = 'all' OR (source_id, event_id) IN (SELECT (source_id, event_id) FROM of_steps))
GROUP BY name
ORDER BY total_ns DESC NULLS LAST, name
