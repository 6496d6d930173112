-- purpose = "Compute ceiling of a launch: that of most of its operations; fp32 without operations."
-- source = "docs/metrics.md, section low_utilization_kernels and kernel_figures"
-- parameters = "of_fp64 of_fp32 of_fp16 of_tensor_fp64 of_tensor_tf32 of_tensor_bf16
-- of_tensor_fp16 of_tensor_fp8 of_tensor_fp4 of_tensor_mixed of_tensor_int8"
-- of_fp64 = "BIGINT: FP64 operations"
-- of_fp32 = "BIGINT: FP32 operations"
-- of_fp16 = "BIGINT: FP16 operations, by their convention"
-- of_tensor_fp64 = "BIGINT: FP64 tensor operations"
-- of_tensor_tf32 = "BIGINT: TF32 tensor operations"
-- of_tensor_bf16 = "BIGINT: BF16 tensor operations"
-- of_tensor_fp16 = "BIGINT: FP16 tensor operations"
-- of_tensor_fp8 = "BIGINT: FP8 tensor operations"
-- of_tensor_fp4 = "BIGINT: FP4 tensor operations"
-- of_tensor_mixed = "BIGINT: tensor operations on several types that the tool reports as one sum"
-- of_tensor_int8 = "BIGINT: integer tensor operations"
list_max(
    [
        -- of equal numbers the first
        {'work':coalesce(of_fp32, 0), 'rank':11, 'name':'fp32'},
        {'work':coalesce(of_fp64, 0), 'rank':10, 'name':'fp64'},
        {'work':coalesce(of_fp16, 0), 'rank':9, 'name':'fp16'},
        {'work':coalesce(of_tensor_fp64, 0), 'rank':8, 'name':'tensor_fp64'},
        {'work':coalesce(of_tensor_tf32, 0), 'rank':7, 'name':'tensor_tf32'},
        {'work':coalesce(of_tensor_bf16, 0), 'rank':6, 'name':'tensor_bf16'},
        {'work':coalesce(of_tensor_fp16, 0), 'rank':5, 'name':'tensor_fp16'},
        {'work':coalesce(of_tensor_fp8, 0), 'rank':4, 'name':'tensor_fp8'},
        {'work':coalesce(of_tensor_fp4, 0), 'rank':3, 'name':'tensor_fp4'},
        {'work':coalesce(of_tensor_mixed, 0), 'rank':2, 'name':'tensor_mixed'},
        {'work':coalesce(of_tensor_int8, 0), 'rank':1, 'name':'tensor_int8'}
    ]
).name
