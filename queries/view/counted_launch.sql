-- purpose = "Every launch with counters, those of all exports of its report in one row: of a
-- counter that several have, the first one's."
-- source = "table kernel_counter; launch_key tells which rows are of one launch"
-- needs = ["kernel_counter"]
-- depends = ["counter_source", "copy_of", "launch_time"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source, one of them where several exports have the launch"}
-- event_id = {type = "BIGINT", doc = "the launch: `kernel.event_id`"}
-- name = {type = "VARCHAR", doc = "name as the profiler wrote it, never shortened"}
-- device_id = {type = "BIGINT", doc = "device as the file numbers it (on ROCm the agent index)"}
-- dur_ns = {type = "BIGINT", doc = "duration; where the file gives none, that of the same
-- launches in another recording of the run; NULL without one"}
-- launch_count = {type = "BIGINT", doc = "launches the row stands for: 1, or more where the tool
-- gives only their sum (`dur_ns` and counters are sums then)"}
-- launch_index = {type = "BIGINT", doc = "the profiler's own number of the launch (ncu: ID)"}
-- grid_x = {type = "BIGINT", doc = "blocks in the grid, x"}
-- grid_y = {type = "BIGINT", doc = "blocks in the grid, y"}
-- grid_z = {type = "BIGINT", doc = "blocks in the grid, z"}
-- block_x = {type = "BIGINT", doc = "threads in a block, x"}
-- block_y = {type = "BIGINT", doc = "threads in a block, y"}
-- block_z = {type = "BIGINT", doc = "threads in a block, z"}
-- occupancy_ratio = {type = "DOUBLE", doc = "achieved occupancy as the profiler estimates it"}
-- elapsed_cycles = {type = "DOUBLE", doc = "cycles that passed, mean over the multiprocessors"}
-- sm_clock_hz = {type = "DOUBLE", doc = "clock of the multiprocessors meanwhile"}
-- dadd_inst = {type = "BIGINT", doc = "FP64 add instructions, by thread, predicated on"}
-- dadd_per_cycle = {type = "DOUBLE", doc = "FP64 add instructions, by thread, predicated on: mean
-- per cycle, where counted so"}
-- dmul_inst = {type = "BIGINT", doc = "FP64 multiply instructions, by thread, predicated on"}
-- dmul_per_cycle = {type = "DOUBLE", doc = "FP64 multiply instructions, by thread, predicated on:
-- mean per cycle, where counted so"}
-- dfma_inst = {type = "BIGINT", doc = "FP64 FMA instructions, by thread, predicated on"}
-- dfma_per_cycle = {type = "DOUBLE", doc = "FP64 FMA instructions, by thread, predicated on: mean
-- per cycle, where counted so"}
-- fadd_inst = {type = "BIGINT", doc = "FP32 add instructions, by thread, predicated on"}
-- fadd_per_cycle = {type = "DOUBLE", doc = "FP32 add instructions, by thread, predicated on: mean
-- per cycle, where counted so"}
-- fmul_inst = {type = "BIGINT", doc = "FP32 multiply instructions, by thread, predicated on"}
-- fmul_per_cycle = {type = "DOUBLE", doc = "FP32 multiply instructions, by thread, predicated on:
-- mean per cycle, where counted so"}
-- ffma_inst = {type = "BIGINT", doc = "FP32 FMA instructions, by thread, predicated on"}
-- ffma_per_cycle = {type = "DOUBLE", doc = "FP32 FMA instructions, by thread, predicated on: mean
-- per cycle, where counted so"}
-- fadd2_inst = {type = "BIGINT", doc = "packed FP32 add (two in one) instructions, by thread,
-- predicated on"}
-- fadd2_per_cycle = {type = "DOUBLE", doc = "packed FP32 add (two in one) instructions, by
-- thread, predicated on: mean per cycle, where counted so"}
-- fmul2_inst = {type = "BIGINT", doc = "packed FP32 multiply (two in one) instructions, by
-- thread, predicated on"}
-- fmul2_per_cycle = {type = "DOUBLE", doc = "packed FP32 multiply (two in one) instructions, by
-- thread, predicated on: mean per cycle, where counted so"}
-- ffma2_inst = {type = "BIGINT", doc = "packed FP32 FMA (two in one) instructions, by thread,
-- predicated on"}
-- ffma2_per_cycle = {type = "DOUBLE", doc = "packed FP32 FMA (two in one) instructions, by
-- thread, predicated on: mean per cycle, where counted so"}
-- hadd_inst = {type = "BIGINT", doc = "FP16 add instructions, by thread, predicated on"}
-- hadd_per_cycle = {type = "DOUBLE", doc = "FP16 add instructions, by thread, predicated on: mean
-- per cycle, where counted so"}
-- hmul_inst = {type = "BIGINT", doc = "FP16 multiply instructions, by thread, predicated on"}
-- hmul_per_cycle = {type = "DOUBLE", doc = "FP16 multiply instructions, by thread, predicated on:
-- mean per cycle, where counted so"}
-- hfma_inst = {type = "BIGINT", doc = "FP16 FMA instructions, by thread, predicated on"}
-- hfma_per_cycle = {type = "DOUBLE", doc = "FP16 FMA instructions, by thread, predicated on: mean
-- per cycle, where counted so"}
-- fp64_flop = {type = "BIGINT", doc = "FP64 operations, where the tool gives them added up"}
-- fp32_flop = {type = "BIGINT", doc = "FP32 operations, where the tool gives them added up"}
-- fp16_flop = {type = "BIGINT", doc = "FP16 operations, where the tool gives them added up"}
-- tensor_inst = {type = "BIGINT", doc = "instructions of the tensor pipe, by warp"}
-- tensor_fp64_flop = {type = "BIGINT", doc = "tensor operations on FP64"}
-- tensor_fp64_per_cycle = {type = "DOUBLE", doc = "tensor operations on FP64: mean per cycle"}
-- tensor_fp64_peak_per_cycle = {type = "DOUBLE", doc = "tensor operations on FP64: most a cycle"}
-- tensor_tf32_flop = {type = "BIGINT", doc = "tensor operations on TF32"}
-- tensor_tf32_per_cycle = {type = "DOUBLE", doc = "tensor operations on TF32: mean per cycle"}
-- tensor_tf32_peak_per_cycle = {type = "DOUBLE", doc = "tensor operations on TF32: most a cycle"}
-- tensor_bf16_flop = {type = "BIGINT", doc = "tensor operations on BF16"}
-- tensor_bf16_per_cycle = {type = "DOUBLE", doc = "tensor operations on BF16: mean per cycle"}
-- tensor_bf16_peak_per_cycle = {type = "DOUBLE", doc = "tensor operations on BF16: most a cycle"}
-- tensor_fp16_flop = {type = "BIGINT", doc = "tensor operations on FP16"}
-- tensor_fp16_per_cycle = {type = "DOUBLE", doc = "tensor operations on FP16: mean per cycle"}
-- tensor_fp16_peak_per_cycle = {type = "DOUBLE", doc = "tensor operations on FP16: most a cycle"}
-- tensor_fp8_flop = {type = "BIGINT", doc = "tensor operations on FP8"}
-- tensor_fp8_per_cycle = {type = "DOUBLE", doc = "tensor operations on FP8: mean per cycle"}
-- tensor_fp8_peak_per_cycle = {type = "DOUBLE", doc = "tensor operations on FP8: most a cycle"}
-- tensor_fp4_flop = {type = "BIGINT", doc = "tensor operations on FP4 and FP6"}
-- tensor_fp4_per_cycle = {type = "DOUBLE", doc = "tensor operations on FP4 and FP6: mean per
-- cycle"}
-- tensor_fp4_peak_per_cycle = {type = "DOUBLE", doc = "tensor operations on FP4 and FP6: most a
-- cycle"}
-- tensor_mixed_flop = {type = "BIGINT", doc = "tensor operations on several types added up"}
-- tensor_mixed_per_cycle = {type = "DOUBLE", doc = "tensor operations on several types added up:
-- mean per cycle"}
-- tensor_mixed_peak_per_cycle = {type = "DOUBLE", doc = "tensor operations on several types added
-- up: most a cycle"}
-- tensor_int_flop = {type = "BIGINT", doc = "tensor operations on integers"}
-- tensor_int_per_cycle = {type = "DOUBLE", doc = "tensor operations on integers: mean per cycle"}
-- tensor_int_peak_per_cycle = {type = "DOUBLE", doc = "tensor operations on integers: most a
-- cycle"}
-- dram_bytes = {type = "BIGINT", doc = "device memory: bytes read and written"}
-- dram_read_bytes = {type = "BIGINT", doc = "device memory: bytes read"}
-- dram_write_bytes = {type = "BIGINT", doc = "device memory: bytes written"}
-- dram_read_sector_count = {type = "BIGINT", doc = "device memory: sectors of 32 bytes read"}
-- dram_write_sector_count = {type = "BIGINT", doc = "device memory: sectors of 32 bytes written"}
-- dram_bytes_per_s = {type = "DOUBLE", doc = "device memory: bytes per second, where given as a
-- rate"}
-- l2_t_bytes = {type = "BIGINT", doc = "L2: bytes asked for (lts__t_bytes)"}
-- l2_xbar_cycle_count = {type = "BIGINT", doc = "L2: cycles in which 32 bytes went to the
-- crossbar"}
-- l2_xbar_per_s = {type = "DOUBLE", doc = "the same, where given as a rate"}
-- l1_t_bytes = {type = "BIGINT", doc = "L1: bytes asked for (l1tex__t_bytes)"}
-- l1_writeback_cycle_count = {type = "BIGINT", doc = "L1: cycles in which 128 bytes were written
-- back"}
-- l1_writeback_per_s = {type = "DOUBLE", doc = "the same, where given as a rate"}
-- dfma_peak_per_cycle = {type = "DOUBLE", doc = "FP64 FMA instructions the device can do in a
-- cycle"}
-- ffma_peak_per_cycle = {type = "DOUBLE", doc = "FP32 FMA instructions the device can do in a
-- cycle"}
-- hfma_peak_per_cycle = {type = "DOUBLE", doc = "FP16 FMA instructions the device can do in a
-- cycle"}
-- dram_peak_bytes_per_cycle = {type = "DOUBLE", doc = "device memory: bytes in a cycle of its own"}
-- dram_clock_hz = {type = "DOUBLE", doc = "clock of device memory meanwhile"}
-- l2_t_peak_bytes_per_cycle = {type = "DOUBLE", doc = "L2: bytes in a cycle of its own"}
-- l2_xbar_peak_per_cycle = {type = "DOUBLE", doc = "crossbar transfers L2 can do in a cycle"}
-- l2_clock_hz = {type = "DOUBLE", doc = "clock of L2 meanwhile"}
-- l1_t_peak_bytes_per_cycle = {type = "DOUBLE", doc = "L1: bytes in a cycle"}
-- l1_writeback_peak_per_cycle = {type = "DOUBLE", doc = "write-backs L1 can do in a cycle"}
-- l1_clock_hz = {type = "DOUBLE", doc = "clock of L1 meanwhile"}
-- compute_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: compute"}
-- memory_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: memory"}
-- dram_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: device memory"}
-- status_json = {type = "VARCHAR", doc = "why a column is NULL although the counter stands in the
-- file: JSON from column to status_kind; NULL if there is none"}
with
    -- not materialized: who asks for one run is to read the files of that run alone
    joined as not materialized(
        select
            kernel_counter.* replace (
                coalesce(kernel_counter.dur_ns, launch_time.other_ns) as dur_ns
            ),
            counter_source.is_shared,
            counter_source.page_kind
        from kernel_counter
        join counter_source using (run_id, source_id)
        left join launch_time using (run_id, source_id, event_id)
    ),
    shared as not materialized(
        select *, copy_of(run_id, launch_key, page_kind, elapsed_cycles, dur_ns) as copy_index
        from joined
        where is_shared and launch_key is not null
    )
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
            * exclude (run_id, source_id, event_id, launch_key, is_shared, page_kind, copy_index)
        ),
        source_id
    ) as '\0'
from shared
group by run_id, launch_key, copy_index
