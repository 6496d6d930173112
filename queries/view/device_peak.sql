-- purpose = "Ceilings of each device of each source, in one row."
-- source = "view device_ceiling"
-- needs = ["device"]
-- depends = ["device_ceiling"]
-- is_kept = true
-- columns = "run_id source_id device_id fp64_flop_per_s fp32_flop_per_s fp16_flop_per_s
-- tensor_fp64_flop_per_s tensor_tf32_flop_per_s tensor_bf16_flop_per_s tensor_fp16_flop_per_s
-- tensor_fp8_flop_per_s tensor_fp4_flop_per_s tensor_int8_flop_per_s dram_bytes_per_s
-- l2_bytes_per_s l1_bytes_per_s launch_overhead_ns"
-- fp64_flop_per_s = "DOUBLE: FP64 peak"
-- l2_bytes_per_s = "DOUBLE: L2"
-- l1_bytes_per_s = "DOUBLE: L1"
-- launch_overhead_ns = "DOUBLE: one kernel launch"
select
    run_id,
    source_id,
    device_id,
    any_value(value) filter (where ceiling_name = 'fp64') as fp64_flop_per_s,
    any_value(value) filter (where ceiling_name = 'fp32') as fp32_flop_per_s,
    any_value(value) filter (where ceiling_name = 'fp16') as fp16_flop_per_s,
    any_value(value) filter (where ceiling_name = 'tensor_fp64') as tensor_fp64_flop_per_s,
    any_value(value) filter (where ceiling_name = 'tensor_tf32') as tensor_tf32_flop_per_s,
    any_value(value) filter (where ceiling_name = 'tensor_bf16') as tensor_bf16_flop_per_s,
    any_value(value) filter (where ceiling_name = 'tensor_fp16') as tensor_fp16_flop_per_s,
    any_value(value) filter (where ceiling_name = 'tensor_fp8') as tensor_fp8_flop_per_s,
    any_value(value) filter (where ceiling_name = 'tensor_fp4') as tensor_fp4_flop_per_s,
    any_value(value) filter (where ceiling_name = 'tensor_int8') as tensor_int8_flop_per_s,
    any_value(value) filter (where ceiling_name = 'dram') as dram_bytes_per_s,
    any_value(value) filter (where ceiling_name = 'l2') as l2_bytes_per_s,
    any_value(value) filter (where ceiling_name = 'l1') as l1_bytes_per_s,
    any_value(value) filter (where ceiling_kind = 'launch_overhead') as launch_overhead_ns
from device_ceiling
group by run_id, source_id, device_id
