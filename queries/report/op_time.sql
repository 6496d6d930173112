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
-- total_ns = {type = "BIGINT", doc = "time on the host in which at least one call of it ran: sum over threads; a call inside another of the same name counts once, an operator called by one of another name in both"}
-- mean_ns = {type = "DOUBLE", doc = "mean duration"}
-- min_ns = {type = "BIGINT", doc = "shortest call"}
-- max_ns = {type = "BIGINT", doc = "longest call"}
WITH
of_steps AS (
    SELECT source_id, event_id
    FROM op_call JOIN step_window($run_id, $phase) USING (run_id, source_id)
    WHERE $phase <> 'all' AND run_id = $run_id AND step_index BETWEEN first_step_index AND last_step_index
),
calls AS (
    SELECT
        name, dur_ns, start_ns,
        -- how far the calls of this name reach that began before on the same thread
        max(start_ns + dur_ns) OVER (
            PARTITION BY source_id, process_id, thread_id, track_name, name ORDER BY start_ns, dur_ns DESC, event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reach_ns
    FROM slice
    WHERE
        run_id = $run_id AND slice_kind = 'op'
        AND ($phase = 'all' OR (source_id, event_id) IN (SELECT (source_id, event_id) FROM of_steps))
)
SELECT
    name,
    count(*) AS call_count,
    -- a start that is not known leaves nothing to hold against
    CAST(
        sum(greatest(dur_ns - greatest(coalesce(reach_ns - start_ns, 0), 0), 0)) FILTER (WHERE dur_ns IS NOT NULL)
    AS BIGINT) AS total_ns,
    avg(dur_ns) AS mean_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns
FROM calls
GROUP BY name
ORDER BY total_ns DESC NULLS LAST, name
