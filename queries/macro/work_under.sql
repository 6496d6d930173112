-- purpose = "Every launch with its operations of one kind and the peak they are held against; beside these, all columns of kernel_bound."
-- source = "Zhu 2018 (TBD), eq. 2; docs/metrics.md, section Ceilings"
-- needs = ["kernel_counter"]
-- depends = ["kernel_bound", "of_ceiling"]
-- [parameters]
-- wanted_ceiling = {type = "VARCHAR", doc = "which kind: fp32, tensor_fp16 …"}
-- convention = {type = "VARCHAR", doc = "packed: an FP16 instruction is two operations; scalar: one"}
-- [columns]
-- work_flop = {type = "BIGINT", doc = "operations of that kind; NULL where they were not counted"}
-- peak = {type = "DOUBLE", doc = "the ceiling of the device, else the launch's own [FLOP/s]; NULL where neither is known"}
SELECT
    *,
    of_ceiling(
        wanted_ceiling, fp64_flop, fp32_flop,
        CASE convention WHEN 'packed' THEN fp16_packed_flop ELSE fp16_scalar_flop END,
        tensor_fp64_flop, tensor_tf32_flop, tensor_bf16_flop, tensor_fp16_flop, tensor_fp8_flop,
        tensor_fp4_flop
    ) AS work_flop,
    of_ceiling(
        wanted_ceiling, fp64_flop_per_s, fp32_flop_per_s, fp16_flop_per_s, tensor_fp64_flop_per_s,
        tensor_tf32_flop_per_s, tensor_bf16_flop_per_s, tensor_fp16_flop_per_s,
        tensor_fp8_flop_per_s, tensor_fp4_flop_per_s
    ) AS peak
FROM kernel_bound
