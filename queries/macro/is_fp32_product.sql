-- purpose = "Whether a kernel is a matrix product or convolution on FP32 units, by its name."
-- source = "names of cuBLAS, cuDNN and CUTLASS kernels: simt, sgemm, scudnn, ffma, f32f32 and
-- cuDNN's engines on float are FP32 units; tensorop, s1688, s16816, hmma and tf32 are tensor cores;
-- docs/metrics.md, section Names of kernels"
-- parameters = "kernel_name"
regexp_matches(
    kernel_name,
    '(^|[^a-z])sgemm|simt_[a-z]*gemm|simt_.*(fprop|dgrad|wgrad)|scudnn|_ffma_|f32f32_f32f32_f32'
    || '|grad(2d)?(_alg\d)?_engine<float'
)
and not regexp_matches(kernel_name, 'tensorop|s1688|s16816|hmma|hgmma|wgmma|tf32|bf16')
