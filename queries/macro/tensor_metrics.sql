-- purpose = "The profiler's counters of operations of tensor cores on given types: a list of names, of each all that together are the operations on the type."
-- source = "metrics of each chip as NVIDIA's CUPTI 13.5 lists them (of 7.x: 12.9); Nsight Compute 2025.3 on an H100"
-- [parameters]
-- capability = {type = "VARCHAR", doc = "compute capability, e.g. 9.0; NULL if unknown"}
-- generation = {type = "BIGINT", doc = "its major number"}
-- kinds = {type = "VARCHAR", doc = "list of types: fp64, tf32, bf16, fp16, fp8, fp4, int8; NULL for none"}
CASE
    WHEN len(kinds) = 0 THEN []
    WHEN capability IS NULL THEN ['regex:^sm__ops_path_tensor_src_']
    -- the operations are 512 times that there; older versions have no other counter of it
    WHEN capability = '7.0' THEN ['sm__inst_executed_pipe_tensor.sum']
    ELSE list_transform(
        list_sort(list_distinct(flatten(list_transform(
            kinds,
            lambda kind: CASE
                WHEN kind IN ('bf16', 'tf32') THEN [kind || '_dst_fp32']
                WHEN kind = 'fp16' AND capability = '7.5' THEN ['fp16_dst_fp16', 'fp16_bf16_tf32_dst_fp32']
                WHEN kind = 'fp16' AND generation <> 9 THEN ['fp16_dst_fp16', 'fp16_dst_fp32']
                WHEN kind = 'fp8' AND generation = 9 THEN ['fp8_sparsity_off']
                WHEN kind = 'fp8' AND (capability = '10.0' OR generation = 11) THEN ['fp4_fp6_fp8_dst_fp16', 'fp4_fp6_fp8_dst_fp32']
                WHEN kind = 'fp8' AND generation > 9 THEN ['fp8_dst_fp16', 'fp8_dst_fp32']
                WHEN kind = 'fp4' AND (capability = '10.0' OR generation = 11) THEN ['fp4_dst_fp32', 'fp4_fp6_fp8_dst_fp16', 'fp4_fp6_fp8_dst_fp32']
                WHEN kind = 'fp4' THEN ['fp4_dst_fp32', 'fp4_fp6_dst_fp16', 'fp4_fp6_dst_fp32']
                ELSE [kind]
            END
        )))),
        lambda path: 'sm__ops_path_tensor_src_' || path || '.sum'
    )
END
