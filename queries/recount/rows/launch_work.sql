-- purpose = "Launches with counters of all precisions, or of the timeline that counters are joined
-- to: their operations and bytes, as the definitions of the counters say."
with
    -- a launch of a timeline has the mean of the launches that match it
    matched as (
        select
            source_id as join_id,
            match_index,
            avg(columns('(_inst|_flop|_bytes|_sector_count|_cycle_count|_ratio)$'))
        from match_counter
        where run_id = $run_id
        group by source_id, match_index
        having max(coalesce(launch_count, 1)) = 1
    ),
    counted as (
        from kernel_counter
        where
            run_id = $run_id
            and not exists (from source_file where run_id = $run_id and recording_kind = 'join')
        union all by name
        select
            kernel.run_id,
            kernel.source_id,
            kernel.event_id,
            kernel.device_id,
            kernel.name,
            kernel.launch_count,
            kernel.grid_x,
            kernel.grid_y,
            kernel.grid_z,
            kernel.block_x,
            kernel.block_y,
            kernel.block_z,
            work.dur_ns,
            matched.* exclude (join_id, match_index)
        from kernel
        join (from attribution where run_id = $run_id) as work using (source_id, event_id)
        left join
            (from kernel_match where run_id = $run_id) as found
            on found.launch_source_id = kernel.source_id
            and found.event_id = kernel.event_id
        left join
            matched on matched.join_id = found.source_id and matched.match_index = found.match_index
        where
            kernel.run_id = $run_id
            and (select count(distinct source_id) from kernel_match where run_id = $run_id) = 1
    ),
    listed as (
        select
            counter.*,
            try_cast(device.compute_capability as double) as capability,
            coalesce(dur_ns, round(elapsed_cycles / sm_clock_hz * 1e9)) as ns,
            ns * 1e-9 * sm_clock_hz as cycles
        from counted as counter
        left join device using (run_id, source_id, device_id)
        where
            run_id = $run_id
            -- of one report only: the launches of others can be the same
            and not exists (
                select launch_key
                from kernel_counter
                where run_id = $run_id and launch_key is not null
                group by launch_key
                having count(distinct source_id) > 1
            )
    )
select
    source_id,
    event_id,
    device_id,
    name,
    coalesce(launch_count, 1) as launches,
    ns,
    coalesce(
        fp64_flop,
        dadd_inst + dmul_inst + 2 * dfma_inst,
        round((dadd_per_cycle + dmul_per_cycle + 2 * dfma_per_cycle) * cycles)
    ) as fp64,
    coalesce(
        fp32_flop,
        fadd_inst + fmul_inst + 2 * ffma_inst,
        round((fadd_per_cycle + fmul_per_cycle + 2 * ffma_per_cycle) * cycles)
    ) as fp32,
    -- two halves in each instruction
    coalesce(
        fp16_flop,
        2 * (hadd_inst + hmul_inst + 2 * hfma_inst),
        2 * round((hadd_per_cycle + hmul_per_cycle + 2 * hfma_per_cycle) * cycles)
    ) as fp16,
    coalesce(hadd_inst, hadd_per_cycle) as add_count,
    coalesce(hfma_inst, hfma_per_cycle) as fma_count,
    -- moves and conversions do not multiply; FMA moves from 8.0 on, but not that many a thread,
    -- unless FP32 instructions need them
    case
        when coalesce(fp16_flop, hmul_inst, hmul_per_cycle, 1) > 0
        then fp16
        when fma_count > 0 and capability < 8
        then fp16
        when
            coalesce(hfma_inst, hfma_per_cycle * cycles) > greatest(
                64 * grid_x * grid_y * grid_z * block_x * block_y * block_z,
                fadd_inst + fmul_inst + ffma_inst,
                (fadd_per_cycle + fmul_per_cycle + ffma_per_cycle) * cycles
            )
            and grid_x * block_x is not null
        then fp16
        else 0
    end as fp16_work,
    case
        when capability < 7
        then 0
        when capability = 7
        then 512 * tensor_inst
        when tensor_inst = 0
        then 0
        else
            coalesce(tensor_fp64_flop, 0)
            + tensor_tf32_flop
            + tensor_bf16_flop
            + tensor_fp16_flop
            + coalesce(tensor_fp8_flop, 0)
            + coalesce(tensor_mixed_flop, 0)
    end as tensor,
    -- of types that the counters do not tell apart
    coalesce(tensor_mixed_flop, 0) as tensor_mixed,
    tensor_int_flop as tensor_int,
    tensor_fp64_flop as tensor_fp64,
    tensor_tf32_flop as tensor_tf32,
    tensor_bf16_flop as tensor_bf16,
    -- the first tensor cores multiply FP16 alone
    if(capability = 7, 512 * tensor_inst, tensor_fp16_flop) as tensor_fp16,
    tensor_fp8_flop as tensor_fp8,
    coalesce(
        dram_bytes,
        dram_read_bytes + dram_write_bytes,
        32 * (dram_read_sector_count + dram_write_sector_count),
        round(dram_bytes_per_s * ns * 1e-9)
    ) as dram,
    coalesce(l2_t_bytes, 32 * l2_xbar_cycle_count, round(32 * l2_xbar_per_s * ns * 1e-9)) as l2,
    coalesce(
        l1_t_bytes, 128 * l1_writeback_cycle_count, round(128 * l1_writeback_per_s * ns * 1e-9)
    ) as l1,
    occupancy_ratio as occupancy,
    compute_throughput_ratio as compute_busy,
    memory_throughput_ratio as memory_busy
from listed
