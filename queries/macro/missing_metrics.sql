-- purpose = "What to ask the profiler for so that a total is known: names of its counters, with commas between them; NULL where nothing is missing."
-- source = "docs/metrics.md, section Work; names as of Nsight Compute 2025.3 and nvprof"
-- [parameters]
-- capability = {type = "VARCHAR", doc = "compute capability; NULL where nobody says"}
-- generation = {type = "BIGINT", doc = "major compute capability; below 7 it is nvprof that counts"}
-- lacks_fp64 = {type = "BOOLEAN", doc = "FP64 was not collected"}
-- lacks_fp32 = {type = "BOOLEAN", doc = "FP32 was not collected"}
-- lacks_packed = {type = "BOOLEAN", doc = "FP32 was, but not that of two in one instruction"}
-- lacks_fp16 = {type = "BOOLEAN", doc = "FP16 was not collected"}
-- tensor_kinds = {type = "VARCHAR", doc = "list of the types of which tensor operations were not; NULL for none"}
nullif(array_to_string(
    CASE
        WHEN generation < 7
        THEN list_filter([
            CASE WHEN lacks_fp64 THEN 'flop_count_dp' END,
            CASE WHEN lacks_fp32 THEN 'flop_count_sp' END,
            CASE WHEN lacks_fp16 THEN 'flop_count_hp' END
        ], lambda name: name IS NOT NULL)
        ELSE list_transform(
            list_filter(
                flatten([
                    CASE WHEN lacks_fp64 THEN ['dadd', 'dmul', 'dfma'] ELSE [] END,
                    CASE WHEN lacks_fp32 THEN ['fadd', 'fmul', 'ffma'] ELSE [] END,
                    CASE WHEN lacks_packed THEN ['fadd2', 'fmul2', 'ffma2'] ELSE [] END,
                    CASE WHEN lacks_fp16 THEN ['hadd', 'hmul', 'hfma'] ELSE [] END
                ]),
                lambda name: name IS NOT NULL
            ),
            lambda name: 'smsp__sass_thread_inst_executed_op_' || name || '_pred_on.sum'
        ) || CASE
            WHEN capability = '7.0' AND len(tensor_kinds) > 0 THEN ['sm__inst_executed_pipe_tensor.sum']
            -- what the counters are called goes by the capability: these are those of 9.0
            WHEN capability = '9.0'
            THEN list_transform(
                tensor_kinds,
                lambda name: 'sm__ops_path_tensor_src_' || name || CASE WHEN name IN ('bf16', 'tf32') THEN '_dst_fp32' WHEN name = 'fp8' THEN '_sparsity_off' ELSE '' END || '.sum'
            )
            WHEN len(tensor_kinds) > 0 THEN ['regex:^sm__ops_path_tensor_src_']
            ELSE []
        END
    END, ','
), '')
