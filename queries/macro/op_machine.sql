-- purpose = "What the operators of each device are held against: one compute peak, and its memory."
-- source = "Wang Y. E. 2020 (ParaDnn), Table 3; docs/metrics.md, section Operators"
-- needs = ["device"]
-- depends = ["device_known", "device_ceiling"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_ceiling = {type = "VARCHAR", doc = "compute peak: tensor_bf16 …; NULL: tensor_bf16, else tensor_fp16, else what the profiler says, else fp32"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the dump adds devices up"}
-- device_name = {type = "VARCHAR", doc = "its name; NULL if unknown"}
-- model_name = {type = "VARCHAR", doc = "the known device of that name"}
-- scope_kind = {type = "VARCHAR", doc = "what its known figures are of: core, gcd, package or board"}
-- ceiling_name = {type = "VARCHAR", doc = "which compute peak"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "the peak"}
-- peak_source = {type = "VARCHAR", doc = "where it comes from"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "that of device memory"}
-- bandwidth_source = {type = "VARCHAR", doc = "where it comes from"}
-- peak_basis = {type = "VARCHAR", doc = "user, datasheet, computed, measured, or reported by the profiler: of compute, and after a comma of memory where that is another"}
WITH
ceilings AS (
    SELECT * FROM device_ceiling
    WHERE (wanted_run IS NULL OR run_id = wanted_run) AND ceiling_kind IN ('compute', 'bandwidth')
),
peaks AS (
    SELECT
        run_id, source_id, device_id, ceiling_name AS peak_name, value AS peak, origin_kind AS peak_origin, source_text AS peak_source
    FROM ceilings
    WHERE
        ceiling_kind = 'compute'
        AND CASE WHEN wanted_ceiling IS NULL THEN ceiling_name IN ('tensor_bf16', 'tensor_fp16', 'reported', 'fp32') ELSE ceiling_name = wanted_ceiling END
    QUALIFY row_number() OVER (
        PARTITION BY run_id, source_id, device_id
        ORDER BY list_position(['tensor_bf16', 'tensor_fp16', 'reported', 'fp32'], ceiling_name)
    ) = 1
),
memories AS (
    SELECT run_id, source_id, device_id, value AS bandwidth, origin_kind AS bandwidth_origin, source_text AS bandwidth_source
    FROM ceilings WHERE ceiling_kind = 'bandwidth' AND ceiling_name = 'dram'
)
SELECT
    device_known.run_id, device_known.source_id, device_known.device_id, device_known.device_name, device_known.model_name,
    device_model.scope_kind, peaks.peak_name AS ceiling_name, peaks.peak AS peak_flop_per_s, peaks.peak_source,
    memories.bandwidth AS peak_bytes_per_s, memories.bandwidth_source,
    CASE
        WHEN peak_origin = bandwidth_origin OR bandwidth_origin IS NULL THEN peak_origin
        ELSE coalesce(peak_origin || ', ', '') || bandwidth_origin
    END AS peak_basis
FROM device_known
LEFT JOIN (SELECT DISTINCT model_name, scope_kind FROM device_model) AS device_model
    ON device_model.model_name = device_known.model_name
LEFT JOIN peaks
    ON peaks.run_id = device_known.run_id AND peaks.source_id = device_known.source_id
    AND peaks.device_id IS NOT DISTINCT FROM device_known.device_id
LEFT JOIN memories
    ON memories.run_id = device_known.run_id AND memories.source_id = device_known.source_id
    AND memories.device_id IS NOT DISTINCT FROM device_known.device_id
WHERE wanted_run IS NULL OR device_known.run_id = wanted_run
