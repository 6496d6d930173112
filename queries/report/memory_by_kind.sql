-- purpose = "Memory by kind on each device: the most that each kind ever had, and its part when everything together was largest."
-- source = "Zhu 2018 (TBD), sect. III and Fig. 8: the maximal amount ever allocated for each type; docs/metrics.md, section Memory by kind"
-- needs = ["allocation", "attribution", "memory_event"]
-- depends = ["memory_level", "memory_kind_rank", "sampled_memory"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- device_kind = {type = "VARCHAR", doc = "cpu, cuda, hip, xpu …"}
-- device_id = {type = "BIGINT", doc = "device; NULL for the host's memory"}
-- kind = {type = "VARCHAR", doc = "the kind; unknown: no rule tells it; unseen: allocated before the recording, or in an event that was lost; (all): everything"}
-- peak_bytes = {type = "BIGINT", doc = "the most that there ever was of it"}
-- at_peak_bytes = {type = "BIGINT", doc = "what there was of it when everything together was largest for the first time"}
-- share_ratio = {type = "DOUBLE", doc = "at_peak_bytes / that of everything; where more blocks are known than the total has, / these"}
-- allocation_count = {type = "BIGINT", doc = "blocks allocated"}
-- allocated_bytes = {type = "BIGINT", doc = "their bytes"}
-- allocated_step_bytes = {type = "DOUBLE", doc = "bytes allocated in a step: mean over the steps"}
-- reserved_peak_bytes = {type = "BIGINT", doc = "in the row of all: the most that the allocator reserved"}
-- reserved_at_peak_bytes = {type = "BIGINT", doc = "in the row of all: reserved when at_peak_bytes were allocated"}
-- unused_at_peak_bytes = {type = "BIGINT", doc = "in the row of all: reserved then, but not allocated (fragmentation)"}
-- reason = {type = "VARCHAR", doc = "why a figure is NULL, or what it is without"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
-- process_id = {type = "BIGINT", doc = "process whose allocator it is"}
-- is_total = {type = "BOOLEAN", doc = "the row of all kinds of a device"}
WITH
levels AS MATERIALIZED (SELECT * FROM memory_level($run_id, $phase)),
kinds AS (
    SELECT
        pool_index, kind, false AS is_total,
        greatest(max(kind_bytes) FILTER (WHERE is_level_of_kind), 0) AS peak_bytes,
        CASE WHEN any_value(peak_place) IS NOT NULL
            THEN coalesce(CAST(sum(change_bytes) FILTER (WHERE place <= peak_place) AS BIGINT), 0)
        END AS at_peak_bytes,
        count(*) FILTER (WHERE is_wanted AND change_bytes > 0) AS allocation_count,
        coalesce(CAST(sum(change_bytes) FILTER (WHERE is_wanted AND change_bytes > 0) AS BIGINT), 0) AS allocated_bytes,
        coalesce(CAST(sum(change_bytes) FILTER (WHERE is_wanted AND change_bytes > 0 AND step_index IS NOT NULL) AS BIGINT), 0)
            AS in_steps_bytes
    FROM levels
    WHERE kind IS NOT NULL
    GROUP BY pool_index, kind
    HAVING peak_bytes > 0
),
pools AS (
    SELECT
        pool_index, bool_or(is_counted) AS is_counted, bool_or(kind IS NOT NULL) AS has_blocks, bool_or(is_wanted) AS is_wanted,
        count(DISTINCT step_index) FILTER (WHERE is_wanted) AS step_count,
        max(all_bytes) FILTER (WHERE is_level) AS peak_bytes,
        max(known_bytes) FILTER (WHERE place = peak_place) AS known_at_peak_bytes,
        max(all_bytes - known_bytes) FILTER (WHERE is_level) AS unseen_peak_bytes,
        min(all_bytes - known_bytes) FILTER (WHERE is_level) AS unseen_least_bytes,
        max(reserved_bytes) FILTER (WHERE is_level) AS reserved_peak_bytes,
        max(reserved_bytes) FILTER (WHERE place = peak_place) AS reserved_at_peak_bytes,
        any_value(source_id) AS source_id, any_value(process_id) AS process_id,
        any_value(device_kind) AS device_kind, any_value(device_id) AS device_id
    FROM levels
    GROUP BY pool_index
),
everything AS (
    SELECT pool_index, kind, is_total, peak_bytes, at_peak_bytes, allocation_count, allocated_bytes, in_steps_bytes FROM kinds
    UNION ALL
    SELECT
        pool_index, 'unseen', false,
        CASE WHEN unseen_least_bytes >= 0 THEN unseen_peak_bytes END,
        CASE WHEN unseen_least_bytes >= 0 THEN peak_bytes - known_at_peak_bytes END, NULL, NULL, NULL
    FROM pools ANTI JOIN (FROM sampled_memory WHERE run_id = $run_id) AS sampled USING (source_id)
    WHERE unseen_peak_bytes <> 0 OR unseen_least_bytes <> 0
    UNION ALL
    SELECT
        pools.pool_index, '(all)', true, pools.peak_bytes, pools.peak_bytes,
        CAST(sum(kinds.allocation_count) AS BIGINT), CAST(sum(kinds.allocated_bytes) AS BIGINT), CAST(sum(kinds.in_steps_bytes) AS BIGINT)
    FROM pools LEFT JOIN kinds USING (pool_index)
    GROUP BY pools.pool_index, pools.peak_bytes
)
SELECT
    source_file.rank_index, pools.device_kind, pools.device_id, everything.kind, everything.peak_bytes, everything.at_peak_bytes,
    ratio(everything.at_peak_bytes, greatest(pools.peak_bytes, pools.known_at_peak_bytes)) AS share_ratio,
    everything.allocation_count, everything.allocated_bytes,
    ratio(everything.in_steps_bytes, pools.step_count) AS allocated_step_bytes,
    CASE WHEN is_total THEN pools.reserved_peak_bytes END AS reserved_peak_bytes,
    CASE WHEN is_total THEN pools.reserved_at_peak_bytes END AS reserved_at_peak_bytes,
    CASE WHEN is_total AND pools.reserved_at_peak_bytes >= pools.peak_bytes THEN pools.reserved_at_peak_bytes - pools.peak_bytes END
        AS unused_at_peak_bytes,
    CASE
        WHEN sampled.source_id IS NOT NULL THEN 'the profiler kept samples of the events: no kind is known, and the peak is the largest that it kept'
        WHEN NOT pools.has_blocks AND NOT pools.is_counted THEN 'the file has neither addresses nor totals'
        WHEN NOT pools.is_wanted THEN 'no memory event is in these steps'
        WHEN is_total AND NOT pools.is_counted THEN 'the file has no totals: without what was allocated before the recording'
        WHEN is_total AND NOT pools.has_blocks THEN 'the file has no addresses: kinds are not known'
        WHEN pools.known_at_peak_bytes > pools.peak_bytes AND kind <> 'unseen' AND NOT is_total
        THEN 'more blocks are known than the total has: releases were lost'
        WHEN kind = 'unknown' THEN 'nothing says forward or backward in the source'
        WHEN kind = 'unseen' AND everything.peak_bytes IS NULL THEN 'more blocks are known than the total has: releases were lost'
        WHEN kind = 'unseen' THEN 'allocated before the recording, or in an event that was lost'
    END AS reason,
    pools.source_id, pools.process_id, everything.is_total
FROM everything
JOIN pools USING (pool_index)
LEFT JOIN (FROM sampled_memory WHERE run_id = $run_id) AS sampled ON sampled.source_id = pools.source_id
LEFT JOIN source_file ON source_file.source_id = pools.source_id AND source_file.run_id = $run_id
ORDER BY source_file.rank_index NULLS LAST, pool_index, is_total DESC, memory_kind_rank(kind)
