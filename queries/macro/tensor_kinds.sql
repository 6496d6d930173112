-- purpose = "The types on which tensor cores of a compute capability compute in floating point: whose operations have all to be counted for a sum that is 0."
-- source = "NVIDIA Nsight Compute, section SpeedOfLight_HierarchicalTensorRooflineChart; docs/metrics.md, section Work"
-- [parameters]
-- capability = {type = "VARCHAR", doc = "compute capability, e.g. 9.0; NULL if unknown"}
-- generation = {type = "BIGINT", doc = "its major number"}
CASE
    WHEN generation < 7 THEN []
    WHEN generation = 7 THEN ['fp16']
    WHEN capability = '8.0' THEN ['bf16', 'fp16', 'tf32', 'fp64']
    WHEN capability = '8.9' THEN ['bf16', 'fp16', 'tf32', 'fp8']
    WHEN generation = 8 THEN ['bf16', 'fp16', 'tf32']
    WHEN generation > 9 THEN ['bf16', 'fp16', 'tf32', 'fp8', 'fp4']
    ELSE ['bf16', 'fp16', 'tf32', 'fp64', 'fp8']
END
