-- purpose = "Launches with counters, one row for all exports of a report: if several have a
-- counter, the first counts."
-- source = "table kernel_counter; launch_key tells which rows are of one launch"
-- needs = ["kernel_counter"]
-- depends = ["counter_source", "copy_of", "launch_time"]
-- empty_without = ["kernel_counter"]
-- columns = "run_id source_id event_id-kernel name device_id dur_ns launch_count launch_index
-- grid_x grid_y grid_z block_x block_y block_z occupancy_ratio elapsed_cycles sm_clock_hz
-- dadd_inst dadd_per_cycle dmul_inst dmul_per_cycle dfma_inst dfma_per_cycle fadd_inst
-- fadd_per_cycle fmul_inst fmul_per_cycle ffma_inst ffma_per_cycle fadd2_inst fadd2_per_cycle
-- fmul2_inst fmul2_per_cycle ffma2_inst ffma2_per_cycle hadd_inst hadd_per_cycle hmul_inst
-- hmul_per_cycle hfma_inst hfma_per_cycle fp64_flop fp32_flop fp16_flop tensor_inst
-- tensor_fp64_flop tensor_fp64_per_cycle tensor_fp64_peak_per_cycle tensor_tf32_flop
-- tensor_tf32_per_cycle tensor_tf32_peak_per_cycle tensor_bf16_flop tensor_bf16_per_cycle
-- tensor_bf16_peak_per_cycle tensor_fp16_flop tensor_fp16_per_cycle tensor_fp16_peak_per_cycle
-- tensor_fp8_flop tensor_fp8_per_cycle tensor_fp8_peak_per_cycle tensor_fp4_flop
-- tensor_fp4_per_cycle tensor_fp4_peak_per_cycle tensor_mixed_flop tensor_mixed_per_cycle
-- tensor_mixed_peak_per_cycle tensor_int_flop tensor_int_per_cycle tensor_int_peak_per_cycle
-- dram_bytes dram_read_bytes dram_write_bytes dram_read_sector_count dram_write_sector_count
-- dram_bytes_per_s l2_t_bytes l2_xbar_cycle_count l2_xbar_per_s l1_t_bytes
-- l1_writeback_cycle_count l1_writeback_per_s dfma_peak_per_cycle ffma_peak_per_cycle
-- hfma_peak_per_cycle dram_peak_bytes_per_cycle dram_clock_hz l2_t_peak_bytes_per_cycle
-- l2_xbar_peak_per_cycle l2_clock_hz l1_t_peak_bytes_per_cycle l1_writeback_peak_per_cycle
-- l1_clock_hz compute_throughput_ratio memory_throughput_ratio dram_throughput_ratio status_json"
-- device_id = "device as the file numbers it (on ROCm the agent index)"
-- dur_ns = "duration; else that of the same launches in another recording of the run; NULL
-- without one"
-- launch_count = "launches in the row: 1, or more if the tool reports only their sum (of dur_ns
-- and counters too)"
-- grid_x = "BIGINT: blocks in the grid, x"
-- grid_y = "BIGINT: blocks in the grid, y"
-- grid_z = "BIGINT: blocks in the grid, z"
-- block_x = "BIGINT: threads in a block, x"
-- block_y = "BIGINT: threads in a block, y"
-- block_z = "BIGINT: threads in a block, z"
-- elapsed_cycles = "DOUBLE: elapsed cycles, mean over the multiprocessors"
-- sm_clock_hz = "DOUBLE: clock of the multiprocessors"
-- dadd_inst = "BIGINT: FP64 add instructions, by thread, predicated on"
-- dadd_per_cycle = "DOUBLE: the same per cycle, if counted as a rate"
-- dmul_inst = "BIGINT: FP64 multiply instructions, by thread, predicated on"
-- dmul_per_cycle = "DOUBLE: the same per cycle, if counted as a rate"
-- dfma_inst = "BIGINT: FP64 FMA instructions, by thread, predicated on"
-- dfma_per_cycle = "DOUBLE: the same per cycle, if counted as a rate"
-- fadd_inst = "BIGINT: FP32 add instructions, by thread, predicated on"
-- fadd_per_cycle = "DOUBLE: the same per cycle, if counted as a rate"
-- fmul_inst = "BIGINT: FP32 multiply instructions, by thread, predicated on"
-- fmul_per_cycle = "DOUBLE: the same per cycle, if counted as a rate"
-- ffma_inst = "BIGINT: FP32 FMA instructions, by thread, predicated on"
-- ffma_per_cycle = "DOUBLE: the same per cycle, if counted as a rate"
-- fadd2_inst = "BIGINT: packed FP32 add (two in one) instructions, by thread, predicated on"
-- fadd2_per_cycle = "DOUBLE: the same per cycle, if counted as a rate"
-- fmul2_inst = "BIGINT: packed FP32 multiply (two in one) instructions, by thread, predicated on"
-- fmul2_per_cycle = "DOUBLE: the same per cycle, if counted as a rate"
-- ffma2_inst = "BIGINT: packed FP32 FMA (two in one) instructions, by thread, predicated on"
-- ffma2_per_cycle = "DOUBLE: the same per cycle, if counted as a rate"
-- hadd_inst = "BIGINT: FP16 add instructions, by thread, predicated on"
-- hadd_per_cycle = "DOUBLE: the same per cycle, if counted as a rate"
-- hmul_inst = "BIGINT: FP16 multiply instructions, by thread, predicated on"
-- hmul_per_cycle = "DOUBLE: the same per cycle, if counted as a rate"
-- hfma_inst = "BIGINT: FP16 FMA instructions, by thread, predicated on"
-- hfma_per_cycle = "DOUBLE: the same per cycle, if counted as a rate"
-- fp64_flop = "FP64 operations, if the tool reports their sum"
-- fp32_flop = "FP32 operations, if the tool reports their sum"
-- fp16_flop = "BIGINT: FP16 operations, if the tool reports their sum"
-- tensor_inst = "BIGINT: instructions of the tensor pipe, by warp"
-- tensor_fp64_per_cycle = "DOUBLE: tensor operations on FP64: mean per cycle"
-- tensor_fp64_peak_per_cycle = "DOUBLE: tensor operations on FP64: most a cycle"
-- tensor_tf32_per_cycle = "DOUBLE: tensor operations on TF32: mean per cycle"
-- tensor_tf32_peak_per_cycle = "DOUBLE: tensor operations on TF32: most a cycle"
-- tensor_bf16_per_cycle = "DOUBLE: tensor operations on BF16: mean per cycle"
-- tensor_bf16_peak_per_cycle = "DOUBLE: tensor operations on BF16: most a cycle"
-- tensor_fp16_per_cycle = "DOUBLE: tensor operations on FP16: mean per cycle"
-- tensor_fp16_peak_per_cycle = "DOUBLE: tensor operations on FP16: most a cycle"
-- tensor_fp8_per_cycle = "DOUBLE: tensor operations on FP8: mean per cycle"
-- tensor_fp8_peak_per_cycle = "DOUBLE: tensor operations on FP8: most a cycle"
-- tensor_fp4_per_cycle = "DOUBLE: tensor operations on FP4 and FP6: mean per cycle"
-- tensor_fp4_peak_per_cycle = "DOUBLE: tensor operations on FP4 and FP6: most a cycle"
-- tensor_mixed_per_cycle = "DOUBLE: tensor operations on several types that the tool reports as
-- one sum: mean per cycle"
-- tensor_mixed_peak_per_cycle = "DOUBLE: maximum of tensor_mixed_per_cycle"
-- tensor_int_per_cycle = "DOUBLE: tensor operations on integers: mean per cycle"
-- tensor_int_peak_per_cycle = "DOUBLE: tensor operations on integers: most a cycle"
-- dram_read_bytes = "BIGINT: bytes read from memory"
-- dram_write_bytes = "BIGINT: bytes written to memory"
-- dram_read_sector_count = "BIGINT: device memory: sectors of 32 bytes read"
-- dram_write_sector_count = "BIGINT: device memory: sectors of 32 bytes written"
-- dram_bytes_per_s = "device memory: bytes per second, if counted as a rate"
-- l2_t_bytes = "BIGINT: L2: bytes asked for (lts__t_bytes)"
-- l2_xbar_cycle_count = "BIGINT: L2: cycles in which 32 bytes went to the crossbar"
-- l2_xbar_per_s = "DOUBLE: l2_xbar_cycle_count per second, if counted as a rate"
-- l1_t_bytes = "BIGINT: L1: bytes asked for (l1tex__t_bytes)"
-- l1_writeback_cycle_count = "BIGINT: L1: cycles in which 128 bytes were written back"
-- l1_writeback_per_s = "DOUBLE: l1_writeback_cycle_count per second, if counted as a rate"
-- dfma_peak_per_cycle = "DOUBLE: FP64 FMA instructions the device can do in a cycle"
-- ffma_peak_per_cycle = "DOUBLE: FP32 FMA instructions the device can do in a cycle"
-- hfma_peak_per_cycle = "DOUBLE: FP16 FMA instructions the device can do in a cycle"
-- dram_peak_bytes_per_cycle = "DOUBLE: device memory: peak bytes per cycle of its clock"
-- dram_clock_hz = "DOUBLE: clock of device memory"
-- l2_t_peak_bytes_per_cycle = "DOUBLE: L2: peak bytes per cycle of its clock"
-- l2_xbar_peak_per_cycle = "DOUBLE: crossbar transfers L2 can do in a cycle"
-- l2_clock_hz = "DOUBLE: clock of L2"
-- l1_t_peak_bytes_per_cycle = "DOUBLE: L1: bytes in a cycle"
-- l1_writeback_peak_per_cycle = "DOUBLE: write-backs L1 can do in a cycle"
-- l1_clock_hz = "DOUBLE: clock of L1"
-- status_json = "VARCHAR: why a column is NULL although its counter is in the file: JSON from
-- column to status_kind; NULL if none is"
with
    -- not materialized: who asks for one run is to read the files of that run alone
    joined as not materialized(
        select kernel_counter.*, counter_source.is_shared, counter_source.page_kind
        from kernel_counter
        join counter_source using (run_id, source_id)
    ),
    shared as not materialized(
        select *, copy_of(run_id, launch_key, page_kind, elapsed_cycles, dur_ns) as copy_index
        from joined
        where is_shared and launch_key is not null
    ),
    launches as not materialized(
        select * exclude (launch_key, is_shared, page_kind)
        from joined
        where not is_shared or launch_key is null
        union all by name
        select
            run_id,
            min(source_id) as source_id,
            arg_min(event_id, source_id) as event_id,
            arg_min(
                columns(
                    * exclude (
                        run_id, source_id, event_id, launch_key, is_shared, page_kind, copy_index
                    )
                ),
                source_id
            ) as '\0'
        from shared
        group by run_id, launch_key, copy_index
    )
-- after the union: launch_time takes long to plan
select launches.* replace (coalesce(launches.dur_ns, launch_time.other_ns) as dur_ns)
from launches
left join launch_time using (run_id, source_id, event_id)
