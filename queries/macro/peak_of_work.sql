-- purpose = "Which compute peak an operator is held against, by what it computes in; NULL where none fits: whole numbers, or not known."
-- source = "docs/metrics.md, section Operators of a timeline"
-- [parameters]
-- precision_name = {type = "VARCHAR", doc = "fp32, bf16, int64 …, as of work_by_context"}
-- is_heavy = {type = "BOOLEAN", doc = "gemm, convolution or attention: on 16 and 8 bits the matrix units do it"}
CASE
    WHEN precision_name IN ('fp64', 'fp32') THEN precision_name
    WHEN is_heavy AND precision_name IN ('bf16', 'fp16', 'fp8') THEN 'tensor_' || precision_name
    -- what is not a product is converted to FP32, worked on, and converted back
    WHEN precision_name IN ('bf16', 'fp16', 'fp8') THEN 'fp32'
END
