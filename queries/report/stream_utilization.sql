-- purpose = "How busy each stream of a device was, and how much of that no other stream was."
-- source = "Zhu 2018 (TBD), eq. 1, stream by stream; docs/metrics.md, section stream_utilization"
-- needs = ["attribution"]
-- depends = ["work_in_window", "device_rank"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not say"}
-- stream_id = {type = "BIGINT", doc = "stream (queue) on the device; NULL where the file does not say"}
-- work_class = {type = "VARCHAR", doc = "what takes most of its time: compute, communication, memcpy or memset"}
-- busy_ratio = {type = "DOUBLE", doc = "busy_ns / elapsed_ns"}
-- busy_ns = {type = "BIGINT", doc = "time with work running on the stream (union)"}
-- alone_ns = {type = "BIGINT", doc = "time of that in which no other stream of the device was busy"}
-- overlapped_ratio = {type = "DOUBLE", doc = "(busy_ns - alone_ns) / busy_ns"}
-- sum_ns = {type = "BIGINT", doc = "sum of the durations; more than busy_ns where work overlaps on the stream"}
-- kernel_count = {type = "BIGINT", doc = "kernels"}
-- transfer_count = {type = "BIGINT", doc = "copies and sets"}
-- elapsed_ns = {type = "BIGINT", doc = "time of the steps; of all of them from the first start to the last end of work on any device of the source"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
WITH
work AS MATERIALIZED (
    SELECT
        source_id, device_id, stream_id, work_class, start_ns, end_ns, elapsed_ns,
        dense_rank() OVER (PARTITION BY source_id, device_id ORDER BY stream_id) AS stream_rank,
        max(end_ns) OVER (
            PARTITION BY source_id, device_id, stream_id ORDER BY start_ns, end_ns
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reach_ns
    FROM work_in_window($run_id, $phase)
),
-- what each adds to the union of its stream
added AS MATERIALIZED (
    SELECT source_id, device_id, stream_rank, greatest(start_ns, coalesce(reach_ns, start_ns)) AS start_ns, end_ns
    FROM work
    WHERE reach_ns IS NULL OR end_ns > reach_ns
),
edges AS (
    SELECT source_id, device_id, start_ns AS time_ns, 1 AS change, stream_rank FROM added
    UNION ALL
    SELECT source_id, device_id, end_ns, -1, -stream_rank FROM added
),
-- where one stream is busy, the sum of the busy streams' ranks is its own
pieces AS (
    SELECT
        source_id, device_id,
        lead(time_ns) OVER ordered - time_ns AS piece_ns,
        sum(change) OVER ordered AS stream_count,
        sum(stream_rank) OVER ordered AS stream_rank
    FROM edges
    WINDOW ordered AS (
        PARTITION BY source_id, device_id ORDER BY time_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    )
),
alone AS (
    SELECT source_id, device_id, stream_rank, sum(piece_ns) AS alone_ns
    FROM pieces
    WHERE stream_count = 1
    GROUP BY source_id, device_id, stream_rank
),
busy AS (
    SELECT source_id, device_id, stream_rank, sum(end_ns - start_ns) AS busy_ns
    FROM added
    GROUP BY source_id, device_id, stream_rank
),
classes AS (
    SELECT
        source_id, device_id, stream_id, stream_rank, work_class, any_value(elapsed_ns) AS elapsed_ns,
        sum(end_ns - start_ns) AS sum_ns, count(*) AS work_count
    FROM work
    GROUP BY source_id, device_id, stream_id, stream_rank, work_class
),
streams AS (
    SELECT
        source_id, device_id, stream_id, stream_rank, any_value(elapsed_ns) AS elapsed_ns,
        arg_max(work_class, (sum_ns, work_class)) AS work_class,
        CAST(sum(sum_ns) AS BIGINT) AS sum_ns,
        CAST(coalesce(sum(work_count) FILTER (WHERE work_class IN ('compute', 'communication')), 0) AS BIGINT)
            AS kernel_count,
        CAST(coalesce(sum(work_count) FILTER (WHERE work_class IN ('memcpy', 'memset')), 0) AS BIGINT)
            AS transfer_count
    FROM classes
    GROUP BY source_id, device_id, stream_id, stream_rank
)
SELECT
    device_rank.rank_index, streams.device_id, streams.stream_id, streams.work_class,
    ratio(busy.busy_ns, streams.elapsed_ns) AS busy_ratio,
    CAST(busy.busy_ns AS BIGINT) AS busy_ns,
    CAST(coalesce(alone.alone_ns, 0) AS BIGINT) AS alone_ns,
    ratio(busy.busy_ns - coalesce(alone.alone_ns, 0), busy.busy_ns) AS overlapped_ratio,
    streams.sum_ns, streams.kernel_count, streams.transfer_count, streams.elapsed_ns, streams.source_id
FROM streams
JOIN busy
    ON busy.source_id = streams.source_id AND busy.device_id IS NOT DISTINCT FROM streams.device_id
    AND busy.stream_rank = streams.stream_rank
LEFT JOIN alone
    ON alone.source_id = streams.source_id AND alone.device_id IS NOT DISTINCT FROM streams.device_id
    AND alone.stream_rank = streams.stream_rank
LEFT JOIN device_rank
    ON device_rank.run_id = $run_id AND device_rank.source_id = streams.source_id AND device_rank.device_id IS NOT DISTINCT FROM streams.device_id
ORDER BY device_rank.rank_index NULLS LAST, streams.source_id, streams.device_id NULLS LAST, busy.busy_ns DESC, streams.stream_id
