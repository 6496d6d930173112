-- purpose = "Units that a kernel of a matrix product or convolution runs on, by its name: tensor
-- cores of NVIDIA (tensor), matrix cores of AMD (matrix), fp32 or fp16 (no tensor cores); NULL if
-- the name does not say."
-- source = "names of cuBLAS, cuDNN, CUTLASS, Tensile and MIOpen kernels; docs/metrics.md, section
-- Names of kernels"
-- depends = ["is_fp32_product", "is_fp16_product"]
-- parameters = "kernel_name"
case
    when is_fp32_product(kernel_name)
    then 'fp32'
    when is_fp16_product(kernel_name)
    then 'fp16'
    when
        regexp_matches(
            kernel_name, 'tensorop|[dhs]884|[his]1688|[his]16816|i16832|[hi]g?mma|wgmma|tf32|nvjet'
        )
    then 'tensor'
    when regexp_matches(kernel_name, '_MI\d+x\d+|gtcx')
    then 'matrix'
end
