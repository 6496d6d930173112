-- purpose = "What each device of each source can do at most: the user's figures, else those of the known device of its name, else what the profiler's own table says."
-- source = "tables assumption, model_ceiling and device, each figure with its source"
-- needs = ["device"]
-- depends = ["device_known", "peak_conflict"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_id = {type = "BIGINT", doc = "device; NULL where the file does not number it, as of a processor"}
-- device_name = {type = "VARCHAR", doc = "name"}
-- ceiling_kind = {type = "VARCHAR", doc = "compute, bandwidth or launch_overhead"}
-- ceiling_name = {type = "VARCHAR", doc = "e.g. fp32, tensor_fp16, dram; reported: the profiler does not say of what"}
-- value = {type = "DOUBLE", doc = "the figure, in base units"}
-- unit = {type = "VARCHAR", doc = "flop/s, bytes/s or ns"}
-- origin_kind = {type = "VARCHAR", doc = "user, datasheet, computed, measured, or reported by the profiler"}
-- source_text = {type = "VARCHAR", doc = "where the figure comes from; and what the profiler says, where that is far from it"}
WITH
offered AS (
    SELECT
        device_known.run_id, device_known.source_id, device_known.device_id,
        device_known.device_name, assumption.assumption_kind AS ceiling_kind,
        assumption.name AS ceiling_name, assumption.value, assumption.unit,
        'user' AS origin_kind, assumption.source_text
    FROM device_known JOIN assumption USING (run_id, source_id)
    WHERE assumption.assumption_kind IN ('compute', 'bandwidth', 'launch_overhead')
    UNION ALL
    SELECT
        device_known.run_id, device_known.source_id, device_known.device_id,
        device_known.device_name, model_ceiling.ceiling_kind, model_ceiling.ceiling_name,
        model_ceiling.value, model_ceiling.unit, model_ceiling.origin_kind,
        model_ceiling.source_text || coalesce(printf('; the profiler reports %.4g of it', peak_conflict.reported_ratio), '') AS source_text
    FROM device_known
    JOIN model_ceiling USING (model_name)
    LEFT JOIN peak_conflict
        ON peak_conflict.run_id = device_known.run_id AND peak_conflict.source_id = device_known.source_id
        AND peak_conflict.device_id IS NOT DISTINCT FROM device_known.device_id
        AND peak_conflict.ceiling_name = model_ceiling.ceiling_name
    UNION ALL
    SELECT
        reported.run_id, reported.source_id, reported.device_id, device_known.device_name,
        reported.ceiling_kind, reported.ceiling_name, reported.value, reported.unit,
        'reported' AS origin_kind, 'the profiler''s own table' AS source_text
    FROM (
        SELECT
            run_id, source_id, device_id,
            unnest([
                {'ceiling_kind': 'compute', 'ceiling_name': 'reported', 'value': reported_flop_per_s, 'unit': 'flop/s'},
                {'ceiling_kind': 'bandwidth', 'ceiling_name': 'dram', 'value': reported_bytes_per_s, 'unit': 'bytes/s'}
            ], recursive := true)
        FROM device
    ) AS reported
    LEFT JOIN device_known
        ON device_known.run_id = reported.run_id AND device_known.source_id = reported.source_id
        AND device_known.device_id IS NOT DISTINCT FROM reported.device_id
    WHERE reported.value > 0
)
SELECT * FROM offered
QUALIFY
    -- only where nobody says more
    (origin_kind <> 'reported' OR bool_and(origin_kind = 'reported') OVER (PARTITION BY run_id, source_id, device_id, ceiling_kind))
    AND row_number() OVER (
    PARTITION BY run_id, source_id, device_id, ceiling_kind, ceiling_name
    ORDER BY origin_kind <> 'user', source_text
) = 1
