-- purpose = "What to ask the profiler for so that a total is known: names of its counters, with commas between them; NULL where nothing is missing."
-- source = "docs/metrics.md, section Work; names as of Nsight Compute 2025.3 and nvprof"
-- depends = ["tensor_metrics"]
-- [parameters]
-- capability = {type = "VARCHAR", doc = "compute capability; NULL if unknown"}
-- generation = {type = "BIGINT", doc = "major compute capability; below 7 it is nvprof that counts"}
-- lacks_fp64 = {type = "BOOLEAN", doc = "FP64 was not collected"}
-- lacks_fp32 = {type = "BOOLEAN", doc = "FP32 was not collected"}
-- lacks_packed = {type = "BOOLEAN", doc = "FP32 of two in one instruction was not collected, of a device that has it"}
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
        ) || tensor_metrics(capability, generation, coalesce(tensor_kinds, []))
    END, ','
), '')
