-- purpose = "Of what is there for each kind of operations, that of one kind: the kinds are those of compute ceilings."
-- source = "docs/metrics.md, section Ceilings"
-- [parameters]
-- ceiling_name = {type = "VARCHAR", doc = "fp32, tensor_fp16 …; NULL for any other"}
-- of_fp64 = {type = "DOUBLE", doc = "operations or a peak: FP64"}
-- of_fp32 = {type = "DOUBLE", doc = "the same: FP32"}
-- of_fp16 = {type = "DOUBLE", doc = "the same: FP16"}
-- of_tensor_fp64 = {type = "DOUBLE", doc = "the same: tensor operations on FP64"}
-- of_tensor_tf32 = {type = "DOUBLE", doc = "the same: tensor operations on TF32"}
-- of_tensor_bf16 = {type = "DOUBLE", doc = "the same: tensor operations on BF16"}
-- of_tensor_fp16 = {type = "DOUBLE", doc = "the same: tensor operations on FP16"}
-- of_tensor_fp8 = {type = "DOUBLE", doc = "the same: tensor operations on FP8"}
-- of_tensor_fp4 = {type = "DOUBLE", doc = "the same: tensor operations on FP4"}
-- of_tensor_int8 = {type = "DOUBLE", doc = "the same: tensor operations on integers"}
CASE ceiling_name
    WHEN 'fp64' THEN of_fp64
    WHEN 'fp32' THEN of_fp32
    WHEN 'fp16' THEN of_fp16
    WHEN 'tensor_fp64' THEN of_tensor_fp64
    WHEN 'tensor_tf32' THEN of_tensor_tf32
    WHEN 'tensor_bf16' THEN of_tensor_bf16
    WHEN 'tensor_fp16' THEN of_tensor_fp16
    WHEN 'tensor_fp8' THEN of_tensor_fp8
    WHEN 'tensor_fp4' THEN of_tensor_fp4
    WHEN 'tensor_int8' THEN of_tensor_int8
END
