-- purpose = "Of what is there for each kind of operations, that of one kind: the kinds are those
-- of compute ceilings."
-- source = "docs/metrics.md, section Ceilings"
-- parameters = "ceiling_name of_fp64 of_fp32 of_fp16 of_tensor_fp64 of_tensor_tf32 of_tensor_bf16
-- of_tensor_fp16 of_tensor_fp8 of_tensor_fp4 of_tensor_int8"
-- ceiling_name = "VARCHAR: fp32, tensor_fp16 …; NULL for any other"
-- of_fp64 = "DOUBLE: operations or a peak: FP64"
-- of_fp32 = "DOUBLE: the same: FP32"
-- of_fp16 = "DOUBLE: the same: FP16"
-- of_tensor_fp64 = "DOUBLE: the same: tensor operations on FP64"
-- of_tensor_tf32 = "DOUBLE: the same: tensor operations on TF32"
-- of_tensor_bf16 = "DOUBLE: the same: tensor operations on BF16"
-- of_tensor_fp16 = "DOUBLE: the same: tensor operations on FP16"
-- of_tensor_fp8 = "DOUBLE: the same: tensor operations on FP8"
-- of_tensor_fp4 = "DOUBLE: the same: tensor operations on FP4"
-- of_tensor_int8 = "DOUBLE: the same: tensor operations on integers"
case
    ceiling_name
    when 'fp64'
    then of_fp64
    when 'fp32'
    then of_fp32
    when 'fp16'
    then of_fp16
    when 'tensor_fp64'
    then of_tensor_fp64
    when 'tensor_tf32'
    then of_tensor_tf32
    when 'tensor_bf16'
    then of_tensor_bf16
    when 'tensor_fp16'
    then of_tensor_fp16
    when 'tensor_fp8'
    then of_tensor_fp8
    when 'tensor_fp4'
    then of_tensor_fp4
    when 'tensor_int8'
    then of_tensor_int8
end
