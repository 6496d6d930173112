-- purpose = "Compute peaks that the work of an operator can be held to: of the units that its
-- kernels name, else of all that can do it; empty for integers without a product, or if unknown."
-- source = "NVIDIA, TF32 in PyTorch (allow_tf32); docs/metrics.md, section Which peak"
-- parameters = "precision_name is_heavy unit_name is_tf32_off"
-- precision_name = "VARCHAR: fp32, bf16, int64 …, as of work_by_context"
-- is_heavy = "BOOLEAN: matmul, convolution or attention: matrix units can do it"
-- unit_name = "VARCHAR: as of unit_of_kernel"
-- is_tf32_off = "BOOLEAN: its arguments do not allow TF32"
case
    when precision_name is null
    then []
    -- what is not a product is converted to FP32, worked on, and converted back
    when is_heavy is not true
    then
        case
            when precision_name = 'fp64'
            then ['fp64']
            when precision_name in ('fp32', 'bf16', 'fp16', 'fp8')
            then ['fp32']
            else []
        end
    when precision_name = 'fp64'
    then case when unit_name is null then ['fp64', 'tensor_fp64'] else ['tensor_fp64'] end
    when precision_name in ('int8', 'uint8')
    then ['tensor_int8']
    when precision_name not in ('fp32', 'bf16', 'fp16', 'fp8')
    then []
    when unit_name in ('fp32', 'fp16')
    then [unit_name]
    when precision_name <> 'fp32'
    then ['tensor_' || precision_name]
    when unit_name = 'tensor'
    then ['tensor_tf32']
    else
        list_filter(
            ['fp32', 'tensor_fp32', 'tensor_tf32'],
            lambda name: (name <> 'fp32' or unit_name is null)
            and (name <> 'tensor_tf32' or is_tf32_off is not true)
        )
end
