-- purpose = "What each device of each source can do at most: the user's figures, else those of the known device of its name, else what the profiler's own table says."
-- source = "tables assumption, model_ceiling and device, each figure with its source"
-- needs = ["device"]
-- depends = ["device_known"]
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
-- model_name = {type = "VARCHAR", doc = "which known device it is"}
-- reported_value = {type = "DOUBLE", doc = "the profiler's own figure for this ceiling, where that is more than 1.3 times this one or less than 1/1.3 of it; of compute it is held to tensor_bf16, else to tensor_fp16"}
-- reported_ratio = {type = "DOUBLE", doc = "reported_value / value"}
WITH
-- in lists, as device_known takes long to plan: it is joined once
given AS (
    SELECT
        run_id, source_id,
        list({
            'ceiling_kind': assumption_kind, 'ceiling_name': name, 'value': value, 'unit': unit,
            'origin_kind': 'user', 'source_text': source_text
        }) AS ceilings
    FROM assumption
    WHERE assumption_kind IN ('compute', 'bandwidth', 'launch_overhead')
    GROUP BY run_id, source_id
),
modelled AS (
    SELECT
        model_name,
        list({
            'ceiling_kind': ceiling_kind, 'ceiling_name': ceiling_name, 'value': value, 'unit': unit,
            'origin_kind': origin_kind, 'source_text': source_text
        }) AS ceilings
    FROM model_ceiling
    GROUP BY model_name
),
reported AS (
    SELECT
        run_id, source_id, device_id, reported_flop_per_s, reported_bytes_per_s,
        [
            {
                'ceiling_kind': 'compute', 'ceiling_name': 'reported', 'value': reported_flop_per_s, 'unit': 'flop/s',
                'origin_kind': 'reported', 'source_text': 'the profiler''s own table'
            },
            {
                'ceiling_kind': 'bandwidth', 'ceiling_name': 'dram', 'value': reported_bytes_per_s, 'unit': 'bytes/s',
                'origin_kind': 'reported', 'source_text': 'the profiler''s own table'
            }
        ] AS ceilings
    FROM device
    WHERE reported_flop_per_s > 0 OR reported_bytes_per_s > 0
),
offered AS (
    SELECT
        device_known.run_id, device_known.source_id, device_known.device_id, device_known.device_name,
        device_known.model_name, reported.reported_flop_per_s, reported.reported_bytes_per_s,
        unnest(list_concat(given.ceilings, modelled.ceilings, reported.ceilings), recursive := true)
    FROM device_known
    LEFT JOIN given ON given.run_id = device_known.run_id AND given.source_id = device_known.source_id
    LEFT JOIN modelled ON modelled.model_name = device_known.model_name
    LEFT JOIN reported
        ON reported.run_id = device_known.run_id AND reported.source_id = device_known.source_id
        AND reported.device_id IS NOT DISTINCT FROM device_known.device_id
),
chosen AS (
    FROM offered
    WHERE origin_kind <> 'reported' OR value > 0
    QUALIFY
        -- only where nobody says more
        (origin_kind <> 'reported' OR bool_and(origin_kind = 'reported') OVER (PARTITION BY run_id, source_id, device_id, ceiling_kind))
        AND row_number() OVER (
            PARTITION BY run_id, source_id, device_id, ceiling_kind, ceiling_name
            ORDER BY origin_kind <> 'user', source_text
        ) = 1
),
-- what the user says counts before both
compared AS (
    SELECT
        *,
        CASE
            WHEN origin_kind IN ('user', 'reported') OR ceiling_name NOT IN ('tensor_bf16', 'tensor_fp16', 'dram') THEN NULL
            WHEN ceiling_kind = 'compute' AND reported_flop_per_s > 0 THEN reported_flop_per_s
            WHEN ceiling_kind = 'bandwidth' AND reported_bytes_per_s > 0 THEN reported_bytes_per_s
        END AS compared_value,
        ratio(compared_value, value) AS compared_ratio,
        greatest(compared_ratio, ratio(1, compared_ratio)) > 1.3
            AND row_number() OVER (
                PARTITION BY run_id, source_id, device_id, ceiling_kind ORDER BY compared_value IS NULL, ceiling_name
            ) = 1 AS is_in_conflict
    FROM chosen
)
SELECT
    run_id, source_id, device_id, device_name, ceiling_kind, ceiling_name, value, unit, origin_kind,
    source_text || CASE WHEN is_in_conflict THEN printf('; the profiler reports %.4g of it', compared_ratio) ELSE '' END AS source_text,
    model_name,
    CASE WHEN is_in_conflict THEN compared_value END AS reported_value,
    CASE WHEN is_in_conflict THEN compared_ratio END AS reported_ratio
FROM compared
