-- purpose = "Every launch with counters against each compute ceiling: operations done / operations possible in its duration."
-- source = "Zhu 2018 (TBD), eq. 2; the launch's own peak: NVIDIA Nsight Compute, section SpeedOfLight_RooflineChart"
-- needs = ["kernel_counter"]
-- depends = ["kernel_work", "device_ceiling", "device_known", "of_ceiling"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- event_id = {type = "BIGINT", doc = "place in the source"}
-- name = {type = "VARCHAR", doc = "kernel name, in full"}
-- ceiling_name = {type = "VARCHAR", doc = "fp64, fp32, fp16 (packed, as work alone) or tensor_…"}
-- work_flop = {type = "BIGINT", doc = "operations of that kind"}
-- dur_ns = {type = "BIGINT", doc = "duration"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "the ceiling of the device, by the user or its data sheet"}
-- peak_source = {type = "VARCHAR", doc = "where it comes from"}
-- utilization_ratio = {type = "DOUBLE", doc = "against that; above 1 the data or the peak is wrong, or the clock above its data sheet"}
-- own_peak_flop_per_s = {type = "DOUBLE", doc = "the ceiling at the launch's own clock, where the report says"}
-- own_utilization_ratio = {type = "DOUBLE", doc = "against that"}
-- reason = {type = "VARCHAR", doc = "why utilization_ratio is NULL"}
WITH
kinds AS (
    SELECT
        work.run_id, work.source_id, work.event_id, work.name, work.device_id, work.dur_ns,
        work.dur_reason, kind.ceiling_name,
        of_ceiling(
            kind.ceiling_name, fp64_flop, fp32_flop, fp16_arithmetic_flop, tensor_fp64_flop, tensor_tf32_flop,
            tensor_bf16_flop, tensor_fp16_flop, tensor_fp8_flop, tensor_fp4_flop,
            tensor_int_flop
        ) AS work_flop,
        CASE kind.ceiling_name
            WHEN 'fp64' THEN fp64_reason
            WHEN 'fp32' THEN fp32_reason
            WHEN 'fp16' THEN fp16_reason
            ELSE tensor_reason
        END AS work_reason,
        of_ceiling(
            kind.ceiling_name, own_fp64_flop_per_s, own_fp32_flop_per_s, own_fp16_flop_per_s,
            own_tensor_fp64_flop_per_s, own_tensor_tf32_flop_per_s, own_tensor_bf16_flop_per_s,
            own_tensor_fp16_flop_per_s, own_tensor_fp8_flop_per_s, own_tensor_fp4_flop_per_s,
            own_tensor_int8_flop_per_s
        ) AS own_peak_flop_per_s
    FROM kernel_work AS work
    CROSS JOIN (
        SELECT unnest([
            'fp64', 'fp32', 'fp16', 'tensor_fp64', 'tensor_tf32', 'tensor_bf16', 'tensor_fp16',
            'tensor_fp8', 'tensor_fp4', 'tensor_int8'
        ]) AS ceiling_name
    ) AS kind
)
SELECT
    kinds.run_id, kinds.source_id, kinds.event_id, kinds.name, kinds.ceiling_name,
    kinds.work_flop, kinds.dur_ns,
    device_ceiling.value AS peak_flop_per_s,
    device_ceiling.source_text AS peak_source,
    ratio(kinds.work_flop * 1e9, kinds.dur_ns * device_ceiling.value) AS utilization_ratio,
    kinds.own_peak_flop_per_s,
    ratio(kinds.work_flop * 1e9, kinds.dur_ns * kinds.own_peak_flop_per_s) AS own_utilization_ratio,
    CASE
        WHEN kinds.work_flop IS NULL THEN coalesce(kinds.work_reason, 'not_collected')
        WHEN kinds.dur_ns IS NULL THEN 'duration: ' || kinds.dur_reason
        WHEN kinds.dur_ns = 0 THEN 'duration of zero'
        WHEN device_ceiling.value IS NULL AND device_known.device_name IS NULL THEN 'device not known'
        WHEN device_ceiling.value IS NULL THEN 'no peak for this device'
    END AS reason
FROM kinds
LEFT JOIN device_known
    ON device_known.run_id = kinds.run_id
    AND device_known.source_id = kinds.source_id
    AND device_known.device_id IS NOT DISTINCT FROM kinds.device_id
LEFT JOIN device_ceiling
    ON device_ceiling.run_id = kinds.run_id
    AND device_ceiling.source_id = kinds.source_id
    AND device_ceiling.device_id IS NOT DISTINCT FROM kinds.device_id
    AND device_ceiling.ceiling_kind = 'compute'
    AND device_ceiling.ceiling_name = kinds.ceiling_name
-- a kind of tensor operation that neither the report nor the device has is no question
WHERE kinds.work_flop IS NOT NULL OR kinds.ceiling_name IN ('fp64', 'fp32', 'fp16')
