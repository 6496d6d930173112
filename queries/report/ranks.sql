-- purpose = "What each rank of a run spent its time on: compute, communication and what of it nothing hid, copies, idle; its steps and its clock."
-- source = "HTA's temporal breakdown and overlap of communication and computation; docs/metrics.md, section Many ranks"
-- needs = ["source_file"]
-- depends = ["device_time", "step_span", "step_window", "collective_match", "device_rank"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "all, stable or N..M (step numbers, both included)", default = "all"}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- device_id = {type = "BIGINT", doc = "device: a row each"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the steps; of all of them from the first start to the last end of work on a device"}
-- compute_ns = {type = "BIGINT", doc = "time with a kernel that is no communication"}
-- exposed_communication_ns = {type = "BIGINT", doc = "time with communication and no such kernel: what nothing hid, waiting for other ranks included"}
-- exposed_copy_ns = {type = "BIGINT", doc = "time with copies or sets alone"}
-- idle_ns = {type = "BIGINT", doc = "time with nothing on the device; with the three before it elapsed_ns"}
-- busy_ratio = {type = "DOUBLE", doc = "share of elapsed_ns with anything on the device"}
-- communication_ns = {type = "BIGINT", doc = "time with communication, hidden or not"}
-- hidden_ratio = {type = "DOUBLE", doc = "share of communication_ns that compute hid"}
-- kernel_count = {type = "BIGINT", doc = "kernels"}
-- step_count = {type = "BIGINT", doc = "steps"}
-- median_step_ns = {type = "BIGINT", doc = "median of their times, as steps has them: from the first work of one to that of the next"}
-- clock_offset_ns = {type = "BIGINT", doc = "its clock less that of the first rank, median over the ends of collectives that both are in"}
-- reason = {type = "VARCHAR", doc = "why figures are NULL"}
-- recorded_ns = {type = "BIGINT", doc = "from the first start to the last end of device work in the whole file"}
-- event_count = {type = "BIGINT", doc = "events in the file"}
-- source_id = {type = "VARCHAR", doc = "source"}
WITH
times AS (
    SELECT
        source_id, device_id, any_value(elapsed_ns) AS elapsed_ns,
        any_value(union_ns) FILTER (WHERE work_class = 'compute') AS compute_ns,
        any_value(union_ns) FILTER (WHERE work_class = 'communication') AS communication_ns,
        any_value(exposed_ns) FILTER (WHERE work_class = 'communication') AS exposed_communication_ns,
        CAST(sum(exposed_ns) FILTER (WHERE work_class IN ('memcpy', 'memset')) AS BIGINT) AS exposed_copy_ns,
        CAST(sum(exposed_ns) AS BIGINT) AS busy_ns,
        CAST(sum(work_count) FILTER (WHERE work_class IN ('compute', 'communication')) AS BIGINT) AS kernel_count
    FROM device_time($run_id, $phase)
    GROUP BY source_id, device_id
),
windows AS (FROM step_window($run_id, $phase)),
recorded AS (SELECT source_id, end_ns - start_ns AS recorded_ns FROM step_window($run_id, 'all')),
steps AS (
    SELECT span.source_id, span.elapsed_ns
    FROM step_span($run_id) AS span LEFT JOIN windows USING (source_id)
    WHERE $phase = 'all' OR span.step_index BETWEEN windows.first_step_index AND windows.last_step_index
),
stepped AS (
    SELECT source_id, count(*) AS step_count, CAST(round(median(elapsed_ns)) AS BIGINT) AS median_step_ns FROM steps GROUP BY source_id
),
clocks AS (
    SELECT source_id, rank_index, CASE WHEN min(clock_offset_ns) = max(clock_offset_ns) THEN min(clock_offset_ns) END AS clock_offset_ns
    FROM collective_match($run_id, 'all')
    GROUP BY source_id, rank_index
)
SELECT
    device_rank.rank_index, times.device_id, times.elapsed_ns, times.compute_ns,
    times.exposed_communication_ns, times.exposed_copy_ns,
    times.elapsed_ns - times.busy_ns AS idle_ns,
    ratio(times.busy_ns, times.elapsed_ns) AS busy_ratio,
    times.communication_ns,
    ratio(times.communication_ns - times.exposed_communication_ns, times.communication_ns) AS hidden_ratio,
    times.kernel_count,
    coalesce(stepped.step_count, 0) AS step_count, stepped.median_step_ns,
    clocks.clock_offset_ns,
    nullif(concat_ws('; ',
        CASE
            WHEN recorded.recorded_ns IS NULL THEN 'no device work in the file'
            WHEN times.elapsed_ns IS NULL THEN 'no device work in these steps'
        END,
        CASE WHEN stepped.step_count IS NULL THEN 'no steps' END,
        CASE WHEN clocks.clock_offset_ns IS NULL THEN 'no collective to tell its clock by' END
    ), '') AS reason,
    recorded.recorded_ns, source_file.event_count, source_file.source_id
FROM source_file
LEFT JOIN times USING (source_id)
LEFT JOIN recorded USING (source_id)
LEFT JOIN stepped USING (source_id)
LEFT JOIN device_rank
    ON device_rank.run_id = $run_id AND device_rank.source_id = source_file.source_id AND device_rank.device_id IS NOT DISTINCT FROM times.device_id
LEFT JOIN clocks
    ON clocks.source_id = source_file.source_id AND clocks.rank_index IS NOT DISTINCT FROM device_rank.rank_index
WHERE source_file.run_id = $run_id AND source_file.recording_kind IS DISTINCT FROM 'join'
ORDER BY device_rank.rank_index NULLS LAST, source_file.source_id, times.device_id NULLS LAST
