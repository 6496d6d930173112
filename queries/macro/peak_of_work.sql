-- purpose = "Compute peak of an operator, by its precision; NULL for integers, or if unknown."
-- source = "docs/metrics.md, section Operators of a timeline"
-- parameters = "precision_name is_heavy"
-- precision_name = "VARCHAR: fp32, bf16, int64 …, as of work_by_context"
-- is_heavy = "BOOLEAN: matmul, convolution or attention: matrix units do it on 16 and 8 bits"
case
    when precision_name in ('fp64', 'fp32')
    then precision_name
    when is_heavy and precision_name in ('bf16', 'fp16', 'fp8')
    then 'tensor_' || precision_name
    -- what is not a product is converted to FP32, worked on, and converted back
    when precision_name in ('bf16', 'fp16', 'fp8')
    then 'fp32'
end
