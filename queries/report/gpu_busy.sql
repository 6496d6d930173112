-- purpose = "How busy each device was: sum of kernel durations, union, overlap and elapsed time."
-- source = "Zhu 2018 (TBD), eq. 1: active time is the union over all streams; docs/metrics.md"
-- needs = ["kernel"]
-- depends = ["device_interval"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- [columns]
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not say"}
-- kernel_count = {type = "BIGINT", doc = "kernel launches whose start and duration are known"}
-- sum_ns = {type = "BIGINT", doc = "sum of kernel durations"}
-- busy_ns = {type = "BIGINT", doc = "time with at least one kernel running (union)"}
-- overlap_ns = {type = "BIGINT", doc = "sum_ns - busy_ns: time counted more than once"}
-- overlapping_count = {type = "BIGINT", doc = "kernels that begin while another still runs on the device"}
-- elapsed_ns = {type = "BIGINT", doc = "from the first kernel's start to the last kernel's end"}
-- busy_ratio = {type = "DOUBLE", doc = "busy_ns / elapsed_ns"}
-- busy_with_transfers_ns = {type = "BIGINT", doc = "union of kernels, copies and sets"}
WITH
intervals AS MATERIALIZED (SELECT * FROM device_interval WHERE run_id = $run_id),
work AS (
    SELECT *, 'kernels' AS scope FROM intervals WHERE work_kind = 'kernel'
    UNION ALL
    SELECT *, 'all' AS scope FROM intervals
),
reached AS (
    SELECT
        *,
        max(end_ns) OVER (
            PARTITION BY scope, source_id, device_id
            ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reach_ns
    FROM work
),
busy AS (
    SELECT
        scope, source_id, device_id,
        count(*) AS interval_count,
        CAST(sum(end_ns - start_ns) AS BIGINT) AS sum_ns,
        CAST(sum(greatest(end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)), 0)) AS BIGINT)
            AS busy_ns,
        count(*) FILTER (WHERE start_ns < reach_ns) AS overlapping_count,
        max(end_ns) - min(start_ns) AS elapsed_ns
    FROM reached
    GROUP BY scope, source_id, device_id
)
SELECT
    kernels.source_id,
    source_file.rank_index,
    kernels.device_id,
    kernels.interval_count AS kernel_count,
    kernels.sum_ns,
    kernels.busy_ns,
    kernels.sum_ns - kernels.busy_ns AS overlap_ns,
    kernels.overlapping_count,
    kernels.elapsed_ns,
    ratio(kernels.busy_ns, kernels.elapsed_ns) AS busy_ratio,
    everything.busy_ns AS busy_with_transfers_ns
FROM busy AS kernels
JOIN busy AS everything
    ON everything.source_id = kernels.source_id
    AND everything.device_id IS NOT DISTINCT FROM kernels.device_id
LEFT JOIN source_file
    ON source_file.source_id = kernels.source_id
    AND source_file.run_id = $run_id
WHERE kernels.scope = 'kernels' AND everything.scope = 'all'
ORDER BY source_file.rank_index NULLS LAST, kernels.source_id, kernels.device_id NULLS LAST
