-- purpose = "The ceilings of each device of each source in one row."
-- source = "view device_ceiling"
-- needs = ["device"]
-- depends = ["device_ceiling"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_id = {type = "BIGINT", doc = "device"}
-- fp64_flop_per_s = {type = "DOUBLE", doc = "FP64"}
-- fp32_flop_per_s = {type = "DOUBLE", doc = "FP32"}
-- fp16_flop_per_s = {type = "DOUBLE", doc = "FP16, packed"}
-- tensor_fp64_flop_per_s = {type = "DOUBLE", doc = "tensor, FP64"}
-- tensor_tf32_flop_per_s = {type = "DOUBLE", doc = "tensor, TF32"}
-- tensor_bf16_flop_per_s = {type = "DOUBLE", doc = "tensor, BF16"}
-- tensor_fp16_flop_per_s = {type = "DOUBLE", doc = "tensor, FP16"}
-- tensor_fp8_flop_per_s = {type = "DOUBLE", doc = "tensor, FP8"}
-- tensor_fp4_flop_per_s = {type = "DOUBLE", doc = "tensor, FP4"}
-- tensor_int8_flop_per_s = {type = "DOUBLE", doc = "tensor, operations on integers of 8 bits"}
-- dram_bytes_per_s = {type = "DOUBLE", doc = "device memory"}
-- l2_bytes_per_s = {type = "DOUBLE", doc = "L2"}
-- l1_bytes_per_s = {type = "DOUBLE", doc = "L1"}
-- launch_overhead_ns = {type = "DOUBLE", doc = "one kernel launch"}
SELECT
    run_id, source_id, device_id,
    any_value(value) FILTER (WHERE ceiling_name = 'fp64') AS fp64_flop_per_s,
    any_value(value) FILTER (WHERE ceiling_name = 'fp32') AS fp32_flop_per_s,
    any_value(value) FILTER (WHERE ceiling_name = 'fp16') AS fp16_flop_per_s,
    any_value(value) FILTER (WHERE ceiling_name = 'tensor_fp64') AS tensor_fp64_flop_per_s,
    any_value(value) FILTER (WHERE ceiling_name = 'tensor_tf32') AS tensor_tf32_flop_per_s,
    any_value(value) FILTER (WHERE ceiling_name = 'tensor_bf16') AS tensor_bf16_flop_per_s,
    any_value(value) FILTER (WHERE ceiling_name = 'tensor_fp16') AS tensor_fp16_flop_per_s,
    any_value(value) FILTER (WHERE ceiling_name = 'tensor_fp8') AS tensor_fp8_flop_per_s,
    any_value(value) FILTER (WHERE ceiling_name = 'tensor_fp4') AS tensor_fp4_flop_per_s,
    any_value(value) FILTER (WHERE ceiling_name = 'tensor_int8') AS tensor_int8_flop_per_s,
    any_value(value) FILTER (WHERE ceiling_name = 'dram') AS dram_bytes_per_s,
    any_value(value) FILTER (WHERE ceiling_name = 'l2') AS l2_bytes_per_s,
    any_value(value) FILTER (WHERE ceiling_name = 'l1') AS l1_bytes_per_s,
    any_value(value) FILTER (WHERE ceiling_kind = 'launch_overhead') AS launch_overhead_ns
FROM device_ceiling
GROUP BY run_id, source_id, device_id
