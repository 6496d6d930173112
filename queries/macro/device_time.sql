-- purpose = "How long compute, communication, copies and sets ran on each device: added up, as a union, hidden behind others and alone."
-- source = "Zhu 2018 (TBD), eq. 1: active time is the union over all streams; docs/metrics.md, section overlap"
-- needs = ["attribution"]
-- depends = ["work_in_window"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_phase = {type = "VARCHAR", doc = "all, stable or N..M (step numbers, both included)"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not say"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the steps; of all of them from the first start to the last end of work on any device of the source"}
-- class_rank = {type = "BIGINT", doc = "place of the class, from 0: each hides those behind it"}
-- work_class = {type = "VARCHAR", doc = "compute, communication, memcpy or memset: four rows a device"}
-- work_count = {type = "BIGINT", doc = "kernels, copies or sets"}
-- overlapping_count = {type = "BIGINT", doc = "of them kernels that begin while another kernel still runs on the device"}
-- sum_ns = {type = "BIGINT", doc = "sum of their durations"}
-- union_ns = {type = "BIGINT", doc = "time in which one at least ran"}
-- exposed_ns = {type = "BIGINT", doc = "time in which one ran and nothing of the classes before it did: adds up to busy time"}
-- alone_ns = {type = "BIGINT", doc = "time in which one ran and nothing of another class did"}
WITH
work AS MATERIALIZED (
    SELECT
        *,
        CAST(work_class = 'compute' AS BIGINT) AS compute,
        CAST(work_class = 'communication' AS BIGINT) AS communication,
        CAST(work_class = 'memcpy' AS BIGINT) AS memcpy,
        CAST(work_class = 'memset' AS BIGINT) AS memset,
        max(end_ns) FILTER (WHERE work_class IN ('compute', 'communication')) OVER (
            PARTITION BY run_id, source_id, device_id ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reach_ns
    FROM work_in_window(wanted_run, wanted_phase)
),
edges AS (
    SELECT run_id, source_id, device_id, start_ns AS time_ns, compute, communication, memcpy, memset FROM work
    UNION ALL
    SELECT run_id, source_id, device_id, end_ns, -compute, -communication, -memcpy, -memset FROM work
),
-- what runs between one start or end and the next
pieces AS (
    SELECT
        run_id, source_id, device_id,
        lead(time_ns) OVER ordered - time_ns AS piece_ns,
        sum(compute) OVER ordered > 0 AS compute,
        sum(communication) OVER ordered > 0 AS communication,
        sum(memcpy) OVER ordered > 0 AS memcpy,
        sum(memset) OVER ordered > 0 AS memset
    FROM edges
    WINDOW ordered AS (
        PARTITION BY run_id, source_id, device_id ORDER BY time_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
),
mixes AS (
    SELECT
        run_id, source_id, device_id, sum(piece_ns) AS mix_ns,
        [compute, communication, memcpy, memset] AS running,
        list_position(running, true) AS first_running,
        len(list_filter(running, lambda is_running: is_running)) AS running_count
    FROM pieces
    GROUP BY run_id, source_id, device_id, running
),
classes AS (
    SELECT unnest([0, 1, 2, 3]) AS class_rank, unnest(['compute', 'communication', 'memcpy', 'memset']) AS work_class
),
times AS (
    SELECT
        run_id, source_id, device_id, class_rank, work_class,
        coalesce(sum(mix_ns) FILTER (WHERE running[class_rank + 1]), 0) AS union_ns,
        coalesce(sum(mix_ns) FILTER (WHERE first_running = class_rank + 1), 0) AS exposed_ns,
        coalesce(sum(mix_ns) FILTER (WHERE running[class_rank + 1] AND running_count = 1), 0) AS alone_ns
    FROM mixes CROSS JOIN classes
    GROUP BY run_id, source_id, device_id, class_rank, work_class
),
sums AS (
    SELECT
        run_id, source_id, device_id, work_class,
        count(*) AS work_count,
        count(*) FILTER (WHERE work_class IN ('compute', 'communication') AND start_ns < reach_ns) AS overlapping_count,
        sum(end_ns - start_ns) AS sum_ns
    FROM work
    GROUP BY run_id, source_id, device_id, work_class
),
windows AS (
    SELECT run_id, source_id, any_value(elapsed_ns) AS elapsed_ns FROM work GROUP BY run_id, source_id
)
SELECT
    times.run_id, times.source_id, times.device_id, windows.elapsed_ns,
    CAST(times.class_rank AS BIGINT) AS class_rank, times.work_class,
    coalesce(sums.work_count, 0) AS work_count,
    coalesce(sums.overlapping_count, 0) AS overlapping_count,
    CAST(coalesce(sums.sum_ns, 0) AS BIGINT) AS sum_ns,
    CAST(times.union_ns AS BIGINT) AS union_ns,
    CAST(times.exposed_ns AS BIGINT) AS exposed_ns,
    CAST(times.alone_ns AS BIGINT) AS alone_ns
FROM times
JOIN windows ON windows.run_id = times.run_id AND windows.source_id = times.source_id
LEFT JOIN sums
    ON sums.run_id = times.run_id AND sums.source_id = times.source_id
    AND sums.device_id IS NOT DISTINCT FROM times.device_id AND sums.work_class = times.work_class
