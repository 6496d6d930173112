-- purpose = "The peaks by a profiler's own table that are more than 1.3 times, or less than 1/1.3 of, those that are known of the device."
-- source = "tables device, model_ceiling and assumption, view device_known; docs/metrics.md, section Operators"
-- needs = ["device"]
-- depends = ["device_known"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_id = {type = "BIGINT", doc = "device"}
-- model_name = {type = "VARCHAR", doc = "which known device it is"}
-- ceiling_kind = {type = "VARCHAR", doc = "compute or bandwidth"}
-- ceiling_name = {type = "VARCHAR", doc = "the known ceiling: dram, or of compute tensor_bf16, else tensor_fp16"}
-- value = {type = "DOUBLE", doc = "the known figure, in base units"}
-- reported_value = {type = "DOUBLE", doc = "the profiler's"}
-- reported_ratio = {type = "DOUBLE", doc = "reported_value / value"}
WITH
reported AS (
    SELECT
        run_id, source_id, device_id,
        unnest([
            {'ceiling_kind': 'compute', 'reported_value': reported_flop_per_s},
            {'ceiling_kind': 'bandwidth', 'reported_value': reported_bytes_per_s}
        ], recursive := true)
    FROM device
)
SELECT
    reported.run_id, reported.source_id, reported.device_id, device_known.model_name, reported.ceiling_kind,
    model_ceiling.ceiling_name, model_ceiling.value, reported.reported_value,
    ratio(reported.reported_value, model_ceiling.value) AS reported_ratio
FROM reported
JOIN device_known
    ON device_known.run_id = reported.run_id AND device_known.source_id = reported.source_id
    AND device_known.device_id IS NOT DISTINCT FROM reported.device_id
JOIN model_ceiling
    ON model_ceiling.model_name = device_known.model_name AND model_ceiling.ceiling_kind = reported.ceiling_kind
    AND model_ceiling.ceiling_name IN ('tensor_bf16', 'tensor_fp16', 'dram')
-- what the user says counts before both; an ANTI JOIN would open the files of every run
LEFT JOIN assumption
    ON assumption.run_id = reported.run_id AND assumption.source_id = reported.source_id
    AND assumption.assumption_kind = reported.ceiling_kind AND assumption.name = model_ceiling.ceiling_name
WHERE reported.reported_value > 0 AND coalesce(assumption.name, '') = ''
QUALIFY
    greatest(reported_ratio, ratio(1, reported_ratio)) > 1.3
    AND row_number() OVER (
        PARTITION BY reported.run_id, reported.source_id, reported.device_id, reported.ceiling_kind ORDER BY model_ceiling.ceiling_name
    ) = 1
