-- purpose = "How much memory there was after every change, of its kind and in all, and when that was most."
-- source = "docs/metrics.md, section Memory by kind"
-- needs = ["allocation", "attribution", "memory_event"]
-- depends = ["memory_change", "step_window"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run"}
-- wanted_phase = {type = "VARCHAR", doc = "steps: all, stable or N..M"}
-- [columns]
-- source_id = {type = "VARCHAR", doc = "source"}
-- process_id = {type = "BIGINT", doc = "process whose allocator it is"}
-- device_kind = {type = "VARCHAR", doc = "cpu, cuda, hip, xpu …"}
-- device_id = {type = "BIGINT", doc = "device; NULL for the host's memory"}
-- pool_index = {type = "BIGINT", doc = "number of this allocator: source, process and device"}
-- event_id = {type = "BIGINT", doc = "memory_event; NULL where a lost release is taken for granted"}
-- time_ns = {type = "BIGINT", doc = "moment"}
-- step_index = {type = "BIGINT", doc = "step it is in"}
-- kind = {type = "VARCHAR", doc = "as memory_change has it"}
-- context_id = {type = "BIGINT", doc = "calling_context that allocated the block"}
-- change_bytes = {type = "BIGINT", doc = "change of the kind"}
-- kind_bytes = {type = "BIGINT", doc = "of its kind, after it"}
-- known_bytes = {type = "BIGINT", doc = "of all kinds, after it"}
-- all_bytes = {type = "BIGINT", doc = "everything, after it: the profiler's total where there is one, else known_bytes"}
-- reserved_bytes = {type = "BIGINT", doc = "reserved after it; NULL where the profiler does not say"}
-- place = {type = "BIGINT", doc = "number of the change in its pool, from 1"}
-- is_wanted = {type = "BOOLEAN", doc = "it is in the steps asked for"}
-- is_level = {type = "BOOLEAN", doc = "known_bytes and all_bytes are those of some time in these steps"}
-- is_level_of_kind = {type = "BOOLEAN", doc = "kind_bytes are those of some time in these steps"}
-- peak_place = {type = "BIGINT", doc = "place of the first change of these after which all_bytes is largest; NULL where that is not known"}
-- is_counted = {type = "BOOLEAN", doc = "the pool has totals: all_bytes are the profiler's"}
WITH
windows AS (SELECT source_id, first_step_index, last_step_index FROM step_window(wanted_run, wanted_phase)),
changes AS MATERIALIZED (FROM memory_change(wanted_run)),
pools AS (
    SELECT
        source_id, process_id, device_kind, device_id,
        row_number() OVER (ORDER BY source_id, process_id, device_kind, device_id) AS pool_index,
        bool_or(total_allocated_bytes IS NOT NULL) AS is_counted,
        bool_or(kind IS NOT NULL) AS has_blocks
    FROM changes
    GROUP BY source_id, process_id, device_kind, device_id
),
running AS (
    SELECT
        changes.* EXCLUDE (run_id, total_allocated_bytes, total_reserved_bytes),
        changes.total_reserved_bytes AS reserved_bytes, pools.pool_index, pools.is_counted,
        -- a source without work on a device has no window: all of it is asked for, or none
        CASE
            WHEN windows.first_step_index IS NULL THEN wanted_phase = 'all'
            ELSE coalesce(changes.step_index BETWEEN windows.first_step_index AND windows.last_step_index, false)
        END AS is_wanted,
        CAST(sum(changes.change_bytes) OVER of_kind AS BIGINT) AS kind_bytes,
        CAST(sum(changes.change_bytes) OVER of_pool AS BIGINT) AS known_bytes,
        row_number() OVER of_pool AS place,
        lead(changes.time_ns) OVER of_kind AS next_of_kind_ns,
        lead(changes.time_ns) OVER of_pool AS next_ns,
        CASE WHEN pools.is_counted THEN changes.total_allocated_bytes WHEN pools.has_blocks THEN known_bytes END AS all_bytes
    FROM changes
    JOIN pools
        ON pools.source_id = changes.source_id AND pools.process_id IS NOT DISTINCT FROM changes.process_id
        AND pools.device_kind IS NOT DISTINCT FROM changes.device_kind
        AND pools.device_id IS NOT DISTINCT FROM changes.device_id
    LEFT JOIN windows ON windows.source_id = changes.source_id
    WINDOW
        of_pool AS (PARTITION BY pools.pool_index ORDER BY changes.time_ns, changes.event_id NULLS FIRST ROWS UNBOUNDED PRECEDING),
        of_kind AS (PARTITION BY pools.pool_index, changes.kind ORDER BY changes.time_ns, changes.event_id NULLS FIRST ROWS UNBOUNDED PRECEDING)
),
bounds AS MATERIALIZED (
    SELECT pool_index, min(time_ns) AS start_ns, max(time_ns) AS end_ns FROM running WHERE is_wanted GROUP BY pool_index
),
levels AS (
    SELECT
        running.*,
        coalesce(time_ns <= end_ns AND (time_ns >= start_ns OR coalesce(next_ns > start_ns, true)), false) AS is_level,
        coalesce(time_ns <= end_ns AND (time_ns >= start_ns OR coalesce(next_of_kind_ns > start_ns, true)), false) AS is_level_of_kind
    FROM running LEFT JOIN bounds USING (pool_index)
)
SELECT
    source_id, process_id, device_kind, device_id, pool_index, event_id, time_ns, step_index, kind, context_id,
    change_bytes, kind_bytes, known_bytes, all_bytes, reserved_bytes, place, is_wanted, is_level, is_level_of_kind,
    arg_max(place, (all_bytes, -place)) FILTER (WHERE is_level AND all_bytes IS NOT NULL) OVER (PARTITION BY pool_index) AS peak_place,
    is_counted
FROM levels
