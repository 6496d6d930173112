-- purpose = "Every launch with its operations by a convention of FP16, and of the kind of one compute ceiling, with the peak they are held against; beside these, all columns of kernel_bound."
-- source = "Zhu 2018 (TBD), eq. 2; docs/metrics.md, sections Ceilings and FP16 operations on the ordinary pipes"
-- needs = ["kernel_counter"]
-- depends = ["kernel_bound", "of_ceiling", "main_ceiling"]
-- [parameters]
-- wanted_ceiling = {type = "VARCHAR", doc = "which kind: fp32, tensor_fp16 …; own: that of most of the launch's operations"}
-- convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions that are work, each two operations; packed: all of them; scalar: all, each one operation"}
-- [columns]
-- fp16_flop = {type = "BIGINT", doc = "FP16 operations by the convention"}
-- all_flop = {type = "BIGINT", doc = "operations of all precisions; NULL unless each was counted"}
-- other_fp16_flop = {type = "BIGINT", doc = "FP16 operations by the other convention: packed beside arithmetic, arithmetic beside the others"}
-- other_flop = {type = "BIGINT", doc = "operations of all precisions by the other convention"}
-- compute_ns = {type = "DOUBLE", doc = "time of the operations at peak, by the convention"}
-- ceiling_name = {type = "VARCHAR", doc = "which ceiling; NULL of own where not all operations are known"}
-- work_flop = {type = "BIGINT", doc = "operations of that kind; NULL where they were not counted"}
-- work_reason = {type = "VARCHAR", doc = "why they are NULL"}
-- peak = {type = "DOUBLE", doc = "the ceiling of the device, else the launch's own [FLOP/s]; NULL where neither is known"}
WITH
counted AS (
    SELECT
        * REPLACE (CASE WHEN convention = 'arithmetic' THEN compute_ns ELSE compute_ns + fp16_beside_ns END AS compute_ns),
        CASE convention
            WHEN 'arithmetic' THEN fp16_arithmetic_flop
            WHEN 'packed' THEN fp16_packed_flop
            ELSE fp16_scalar_flop
        END AS fp16_flop,
        CASE convention
            WHEN 'arithmetic' THEN total_arithmetic_flop
            WHEN 'packed' THEN total_packed_flop
            ELSE total_scalar_flop
        END AS all_flop,
        CASE convention WHEN 'arithmetic' THEN fp16_packed_flop ELSE fp16_arithmetic_flop END AS other_fp16_flop,
        CASE convention WHEN 'arithmetic' THEN total_packed_flop ELSE total_arithmetic_flop END AS other_flop
    FROM kernel_bound
),
held AS (
    SELECT
        *,
        CASE
            WHEN wanted_ceiling <> 'own' THEN CAST(wanted_ceiling AS VARCHAR)
            WHEN all_flop IS NOT NULL
            THEN main_ceiling(
                fp64_flop, fp32_flop, fp16_flop, tensor_fp64_flop, tensor_tf32_flop, tensor_bf16_flop,
                tensor_fp16_flop, tensor_fp8_flop, tensor_fp4_flop, tensor_mixed_flop, tensor_int_flop
            )
        END AS ceiling_name
    FROM counted
)
SELECT
    *,
    of_ceiling(
        ceiling_name, fp64_flop, fp32_flop, fp16_flop, tensor_fp64_flop, tensor_tf32_flop,
        tensor_bf16_flop, tensor_fp16_flop, tensor_fp8_flop, tensor_fp4_flop, tensor_int_flop
    ) AS work_flop,
    CASE
        WHEN work_flop IS NOT NULL THEN NULL
        WHEN ceiling_name IS NULL THEN total_reason
        WHEN ceiling_name = 'tensor_mixed' THEN 'tensor: types not told apart'
        ELSE coalesce(CASE ceiling_name WHEN 'fp64' THEN fp64_reason WHEN 'fp32' THEN fp32_reason WHEN 'fp16' THEN fp16_reason ELSE tensor_reason END, 'not_collected')
    END AS work_reason,
    of_ceiling(
        ceiling_name, fp64_flop_per_s, fp32_flop_per_s, fp16_flop_per_s, tensor_fp64_flop_per_s,
        tensor_tf32_flop_per_s, tensor_bf16_flop_per_s, tensor_fp16_flop_per_s,
        tensor_fp8_flop_per_s, tensor_fp4_flop_per_s, tensor_int8_flop_per_s
    ) * CASE WHEN ceiling_name = 'fp16' AND convention = 'scalar' THEN 0.5 ELSE 1 END AS peak
FROM held
