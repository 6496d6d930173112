-- purpose = "Memory by kind over time: in each of some stretches of equal length, at the moment when there was most."
-- source = "docs/metrics.md, section Memory by kind"
-- needs = ["allocation", "attribution", "memory_event"]
-- depends = ["memory_level", "memory_kind_rank"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M", default = "all"}
-- points = {type = "BIGINT", doc = "stretches of time", default = 200}
-- [columns]
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- device_kind = {type = "VARCHAR", doc = "cpu, cuda, hip, xpu …"}
-- device_id = {type = "BIGINT", doc = "device; NULL for the host's memory"}
-- elapsed_ns = {type = "BIGINT", doc = "the moment, after the first memory event of the source in these steps"}
-- kind = {type = "VARCHAR", doc = "as memory_by_kind has it"}
-- allocated_bytes = {type = "BIGINT", doc = "what there was of the kind at that moment"}
-- is_peak = {type = "BOOLEAN", doc = "the moment when everything together was largest"}
-- source_id = {type = "VARCHAR", doc = "source (one rank of a job)"}
-- process_id = {type = "BIGINT", doc = "process whose allocator it is"}
-- time_ns = {type = "BIGINT", doc = "the moment, in ns after source_file.base_time_ns"}
WITH
levels AS MATERIALIZED (SELECT * FROM memory_level($run_id, $phase)),
spans AS (
    SELECT source_id, min(time_ns) AS start_ns, max(time_ns) - min(time_ns) AS dur_ns FROM levels WHERE is_wanted GROUP BY source_id
),
moments AS MATERIALIZED (
    SELECT
        levels.pool_index, levels.place, levels.time_ns, levels.time_ns - spans.start_ns AS elapsed_ns,
        levels.all_bytes - levels.known_bytes AS unseen_bytes,
        levels.place = levels.peak_place AS is_peak
    FROM levels JOIN spans USING (source_id)
    WHERE levels.is_wanted AND levels.all_bytes IS NOT NULL
    QUALIFY row_number() OVER (
        PARTITION BY levels.pool_index, (levels.time_ns - spans.start_ns) * $points // (spans.dur_ns + 1)
        ORDER BY levels.all_bytes DESC, levels.place
    ) = 1
),
kinds AS (SELECT DISTINCT pool_index, kind FROM levels WHERE kind IS NOT NULL),
asked AS (SELECT moments.*, kinds.kind FROM moments JOIN kinds USING (pool_index)),
known AS (
    SELECT asked.pool_index, asked.place, asked.time_ns, asked.elapsed_ns, asked.is_peak, asked.kind, coalesce(levels.kind_bytes, 0) AS allocated_bytes
    FROM asked
    ASOF LEFT JOIN levels
        ON levels.pool_index = asked.pool_index AND levels.kind = asked.kind AND levels.place <= asked.place
    UNION ALL
    SELECT pool_index, place, time_ns, elapsed_ns, is_peak, 'unseen', unseen_bytes FROM moments WHERE unseen_bytes > 0
),
pools AS (
    SELECT
        pool_index, any_value(source_id) AS source_id, any_value(process_id) AS process_id,
        any_value(device_kind) AS device_kind, any_value(device_id) AS device_id
    FROM levels
    GROUP BY pool_index
)
SELECT
    source_file.rank_index, pools.device_kind, pools.device_id, known.elapsed_ns, known.kind, known.allocated_bytes, known.is_peak,
    pools.source_id, pools.process_id, known.time_ns
FROM known
JOIN pools USING (pool_index)
LEFT JOIN source_file ON source_file.source_id = pools.source_id AND source_file.run_id = $run_id
ORDER BY source_file.rank_index NULLS LAST, pool_index, known.place, memory_kind_rank(known.kind)
