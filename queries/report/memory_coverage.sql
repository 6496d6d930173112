-- purpose = "How much of a file's memory events can be told apart: blocks with both ends, with a kind, and totals that add up."
-- source = "docs/metrics.md, section Memory by kind"
-- needs = ["allocation", "memory_event"]
-- depends = ["memory_kind", "sampled_memory"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- device_kind = {type = "VARCHAR", doc = "cpu, cuda, hip, xpu …"}
-- device_id = {type = "BIGINT", doc = "device; NULL for the host's memory"}
-- event_count = {type = "BIGINT", doc = "allocations and releases in the file"}
-- block_count = {type = "BIGINT", doc = "blocks they tell of; NULL where they have no addresses"}
-- whole_count = {type = "BIGINT", doc = "blocks with their allocation and their release"}
-- held_count = {type = "BIGINT", doc = "blocks that are not released in the file"}
-- begun_before_count = {type = "BIGINT", doc = "blocks released whose allocation is not in the file"}
-- lost_release_count = {type = "BIGINT", doc = "blocks whose address is allocated again before a release"}
-- unequal_count = {type = "BIGINT", doc = "releases of another size than their allocation"}
-- kind_known_ratio = {type = "DOUBLE", doc = "bytes of the blocks whose kind is known / of all blocks allocated in the file"}
-- before_bytes = {type = "BIGINT", doc = "total before the first event: allocated before the recording; NULL where the file has no totals"}
-- unaccounted_count = {type = "BIGINT", doc = "events between which the total changes by something else than their size"}
-- unaccounted_bytes = {type = "BIGINT", doc = "bytes of those differences: events that are missing"}
-- reason = {type = "VARCHAR", doc = "why a figure is NULL"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
-- process_id = {type = "BIGINT", doc = "process whose allocator it is"}
WITH
events AS MATERIALIZED (SELECT * FROM memory_event WHERE run_id = $run_id),
blocks AS MATERIALIZED (FROM memory_kind($run_id)),
followed AS (
    SELECT
        source_id, process_id, device_kind, device_id, address, size_bytes, total_allocated_bytes,
        total_allocated_bytes - size_bytes AS before_bytes,
        lag(total_allocated_bytes) OVER in_time AS last_bytes,
        row_number() OVER in_time AS place
    FROM events
    WINDOW in_time AS (PARTITION BY source_id, process_id, device_kind, device_id ORDER BY time_ns, event_id)
),
pools AS (
    SELECT
        source_id, process_id, device_kind, device_id, count(*) AS event_count, count(address) AS with_address_count,
        count(total_allocated_bytes) AS with_total_count,
        any_value(before_bytes) FILTER (WHERE place = 1) AS before_bytes,
        count(*) FILTER (WHERE before_bytes <> last_bytes) AS unaccounted_count,
        coalesce(CAST(sum(abs(before_bytes - last_bytes)) AS BIGINT), 0) AS unaccounted_bytes
    FROM followed
    GROUP BY source_id, process_id, device_kind, device_id
),
told AS (
    SELECT
        blocks.source_id, blocks.process_id, blocks.device_kind, blocks.device_id, count(*) AS block_count,
        count(*) FILTER (WHERE blocks.event_id IS NOT NULL AND blocks.release_event_id IS NOT NULL) AS whole_count,
        count(*) FILTER (WHERE blocks.release_event_id IS NULL AND blocks.end_ns IS NULL) AS held_count,
        count(*) FILTER (WHERE blocks.event_id IS NULL) AS begun_before_count,
        count(*) FILTER (WHERE blocks.release_event_id IS NULL AND blocks.end_ns IS NOT NULL) AS lost_release_count,
        count(*) FILTER (WHERE blocks.event_id IS NOT NULL AND -released.size_bytes <> blocks.size_bytes) AS unequal_count,
        sum(blocks.size_bytes) FILTER (WHERE blocks.kind IS NOT NULL) AS known_bytes,
        sum(blocks.size_bytes) FILTER (WHERE blocks.event_id IS NOT NULL) AS seen_bytes
    FROM blocks
    LEFT JOIN events AS released ON released.source_id = blocks.source_id AND released.event_id = blocks.release_event_id
    GROUP BY blocks.source_id, blocks.process_id, blocks.device_kind, blocks.device_id
)
SELECT
    source_file.rank_index, pools.device_kind, pools.device_id, pools.event_count, told.block_count, told.whole_count,
    told.held_count, told.begun_before_count, told.lost_release_count, told.unequal_count,
    CASE WHEN sampled.source_id IS NULL THEN ratio(coalesce(told.known_bytes, 0), told.seen_bytes) END AS kind_known_ratio,
    pools.before_bytes,
    CASE WHEN pools.with_total_count > 0 THEN pools.unaccounted_count END AS unaccounted_count,
    CASE WHEN pools.with_total_count > 0 THEN pools.unaccounted_bytes END AS unaccounted_bytes,
    CASE
        WHEN sampled.source_id IS NOT NULL THEN 'the profiler kept samples of the events: blocks have ends that are of others'
        WHEN pools.with_address_count = 0 AND pools.with_total_count = 0 THEN 'the file has neither addresses nor totals'
        WHEN pools.with_address_count = 0 THEN 'the file has no addresses: releases cannot be told from which allocation'
        WHEN pools.with_total_count = 0 THEN 'the file has no totals'
        WHEN pools.before_bytes IS NULL THEN 'the first event has no total'
    END AS reason,
    pools.source_id, pools.process_id
FROM pools
LEFT JOIN (FROM sampled_memory WHERE run_id = $run_id) AS sampled ON sampled.source_id = pools.source_id
LEFT JOIN told
    ON told.source_id = pools.source_id AND told.process_id IS NOT DISTINCT FROM pools.process_id
    AND told.device_kind IS NOT DISTINCT FROM pools.device_kind AND told.device_id IS NOT DISTINCT FROM pools.device_id
LEFT JOIN source_file ON source_file.source_id = pools.source_id AND source_file.run_id = $run_id
ORDER BY source_file.rank_index NULLS LAST, pools.source_id, pools.process_id, pools.device_kind, pools.device_id
