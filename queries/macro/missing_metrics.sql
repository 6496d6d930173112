-- purpose = "Counters to add for a total, comma-separated; NULL if none is missing."
-- source = "docs/metrics.md, section Work; names as of Nsight Compute 2025.3 and nvprof"
-- depends = ["tensor_metrics"]
-- parameters = "capability generation lacks_fp64 lacks_fp32 lacks_packed lacks_fp16 tensor_kinds"
-- generation = "major compute capability; below 7, nvprof counts"
-- lacks_fp64 = "BOOLEAN: FP64 was not collected"
-- lacks_fp32 = "BOOLEAN: FP32 was not collected"
-- lacks_packed = "BOOLEAN: packed FP32 instructions were not collected, on a device that has them"
-- lacks_fp16 = "BOOLEAN: FP16 was not collected"
-- tensor_kinds = "VARCHAR: list of types whose tensor operations were not collected; NULL for none"
nullif(
    array_to_string(
        case
            when generation < 7
            then
                list_filter(
                    [
                        case when lacks_fp64 then 'flop_count_dp' end,
                        case when lacks_fp32 then 'flop_count_sp' end,
                        case when lacks_fp16 then 'flop_count_hp' end
                    ],
                    lambda name:name is not null
                )
            else
                list_transform(
                    list_filter(
                        flatten(
                            [
                                case when lacks_fp64 then ['dadd', 'dmul', 'dfma'] else [] end,
                                case when lacks_fp32 then ['fadd', 'fmul', 'ffma'] else [] end,
                                case when lacks_packed then ['fadd2', 'fmul2', 'ffma2'] else [] end,
                                case when lacks_fp16 then ['hadd', 'hmul', 'hfma'] else [] end
                            ]
                        ),
                        lambda name:name is not null
                    ),
                    lambda name:'smsp__sass_thread_inst_executed_op_' || name || '_pred_on.sum'
                )
                || tensor_metrics(capability, generation, coalesce(tensor_kinds, []))
        end,
        ','
    ),
    ''
)
