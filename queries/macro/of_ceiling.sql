-- purpose = "The value for one compute ceiling, from one value per kind of operation."
-- source = "docs/metrics.md, section Ceilings"
-- parameters = "ceiling_name of_fp64 of_fp32 of_fp16 of_tensor_fp64 of_tensor_tf32 of_tensor_bf16
-- of_tensor_fp16 of_tensor_fp8 of_tensor_fp4 of_tensor_int8"
-- ceiling_name = "VARCHAR: fp32, tensor_fp16 …; NULL for any other"
-- of_fp64 = "DOUBLE: FP64 operations or peak"
-- of_fp32 = "DOUBLE: FP32 operations or peak"
-- of_fp16 = "DOUBLE: FP16 operations or peak"
-- of_tensor_fp64 = "DOUBLE: FP64 tensor operations or peak"
-- of_tensor_tf32 = "DOUBLE: TF32 tensor operations or peak"
-- of_tensor_bf16 = "DOUBLE: BF16 tensor operations or peak"
-- of_tensor_fp16 = "DOUBLE: FP16 tensor operations or peak"
-- of_tensor_fp8 = "DOUBLE: FP8 tensor operations or peak"
-- of_tensor_fp4 = "DOUBLE: FP4 tensor operations or peak"
-- of_tensor_int8 = "DOUBLE: integer tensor operations or peak"
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
