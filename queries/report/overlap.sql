-- purpose = "What the time of each device went to: compute, communication, copies, sets and idle; and what of it others hid."
-- source = "HTA's temporal breakdown and overlap of communication and computation; TraceLens' timeline; docs/metrics.md, section overlap"
-- needs = ["attribution"]
-- depends = ["device_time", "device_rank"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not say"}
-- work_class = {type = "VARCHAR", doc = "compute (kernels that are no communication), communication, memcpy, memset, or idle"}
-- share_ratio = {type = "DOUBLE", doc = "exposed_ns / elapsed_ns; the five of a device add up to 1"}
-- exposed_ns = {type = "BIGINT", doc = "time in which the class ran and none of those above it did; the five of a device add up to elapsed_ns"}
-- union_ns = {type = "BIGINT", doc = "time in which the class ran, whatever else did; NULL of idle"}
-- hidden_ratio = {type = "DOUBLE", doc = "(union_ns - exposed_ns) / union_ns: of communication the share behind compute"}
-- alone_ns = {type = "BIGINT", doc = "time in which nothing of another class ran"}
-- sum_ns = {type = "BIGINT", doc = "sum of the durations"}
-- work_count = {type = "BIGINT", doc = "kernels, copies or sets"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the steps; of all of them from the first start to the last end of work on any device of the source"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
WITH
times AS MATERIALIZED (
    SELECT * FROM device_time($run_id, $phase)
),
rows_of AS (
    SELECT source_id, device_id, class_rank, work_class, elapsed_ns, exposed_ns, union_ns, alone_ns, sum_ns, work_count
    FROM times
    UNION ALL
    SELECT
        source_id, device_id, max(class_rank) + 1, 'idle', any_value(elapsed_ns),
        CAST(any_value(elapsed_ns) - sum(exposed_ns) AS BIGINT), NULL, NULL, NULL, NULL
    FROM times
    GROUP BY source_id, device_id
)
SELECT
    device_rank.rank_index,
    rows_of.device_id,
    rows_of.work_class,
    ratio(rows_of.exposed_ns, rows_of.elapsed_ns) AS share_ratio,
    rows_of.exposed_ns,
    rows_of.union_ns,
    ratio(rows_of.union_ns - rows_of.exposed_ns, rows_of.union_ns) AS hidden_ratio,
    rows_of.alone_ns,
    rows_of.sum_ns,
    rows_of.work_count,
    rows_of.elapsed_ns,
    rows_of.source_id
FROM rows_of
LEFT JOIN device_rank
    ON device_rank.run_id = $run_id AND device_rank.source_id = rows_of.source_id AND device_rank.device_id IS NOT DISTINCT FROM rows_of.device_id
ORDER BY device_rank.rank_index NULLS LAST, rows_of.source_id, rows_of.device_id NULLS LAST, rows_of.class_rank
