-- purpose = "Work and traffic of each launch with counters, or in a join, as it ran under them:
-- operations by precision, bytes by level, and why each is NULL."
-- source = "docs/metrics.md, section Work; NVIDIA Nsight Compute's roofline sections; Wang Y.
-- 2020 (Time-Based Roofline), sect. III"
-- needs = ["kernel_counter"]
-- depends = ["counted_launch", "device_known", "arithmetic", "duration_of", "why_missing",
-- "dense_peak", "fp16_kind", "has_packed_fp32", "tensor_kinds", "missing_metrics",
-- "counted_at_rate", "why_not_worked_out"]
-- empty_without = ["kernel_counter", "match_counter"]
-- columns = "run_id source_id event_id match_index name launch_count-row launch_index device_id
-- device_name compute_capability provenance_kind-measured dur_ns-counted dur_reason fp64_flop
-- fp64_reason fp32_flop fp32_reason fp16_packed_flop fp16_scalar_flop fp16_arithmetic_flop
-- fp16_kind fp16_reason tensor_fp64_flop tensor_tf32_flop tensor_bf16_flop tensor_fp16_flop
-- tensor_fp8_flop tensor_fp4_flop tensor_mixed_flop tensor_int_flop tensor_flop tensor_reason
-- known_flop-counted total_arithmetic_flop total_packed_flop total_scalar_flop total_reason
-- missing_metrics dram_bytes dram_basis dram_reason l2_paper_bytes l2_vendor_bytes l2_reason
-- l1_paper_bytes l1_vendor_bytes l1_reason own_fp64_flop_per_s own_fp32_flop_per_s
-- own_fp16_flop_per_s own_tensor_fp64_flop_per_s own_tensor_tf32_flop_per_s
-- own_tensor_bf16_flop_per_s own_tensor_fp16_flop_per_s own_tensor_fp8_flop_per_s
-- own_tensor_fp4_flop_per_s own_tensor_int8_flop_per_s own_dram_bytes_per_s
-- own_l2_paper_bytes_per_s own_l2_vendor_bytes_per_s own_l1_paper_bytes_per_s
-- own_l1_vendor_bytes_per_s occupancy_ratio compute_throughput_ratio memory_throughput_ratio
-- dram_throughput_ratio"
-- match_index = "BIGINT: for a join: kernel_match.match_index; NULL for the counter run"
with
    launches as not materialized(
        select
            launch.*,
            device_known.device_name,
            device_known.compute_capability,
            device_known.capability_major as generation
        from counted_launch as launch
        left join
            device_known
            on device_known.run_id = launch.run_id
            and device_known.source_id = launch.source_id
            and device_known.device_id is not distinct from launch.device_id
        union all by name
        select
            * exclude (counter_source_id, launch_key),
            try_cast(split_part(compute_capability, '.', 1) as bigint) as generation
        from match_counter
    ),
    timed as (
        select
            * replace (
                coalesce(launch_count, 1) as launch_count,
                duration_of(dur_ns, elapsed_cycles, sm_clock_hz) as dur_ns
            ),
            -- a rate over no time at all is not a count of zero
            coalesce(
                nullif(launches.dur_ns, 0) * 1e-9 * sm_clock_hz, nullif(elapsed_cycles, 0)
            ) as cycles,
            cast(launch_count as double)
            * grid_x
            * grid_y
            * grid_z
            * block_x
            * block_y
            * block_z as thread_count
        from launches
    ),
    precise as (
        select
            *,
            coalesce(
                fp64_flop,
                arithmetic(
                    dadd_inst,
                    dmul_inst,
                    dfma_inst,
                    dadd_per_cycle,
                    dmul_per_cycle,
                    dfma_per_cycle,
                    cycles
                )
            ) as fp64,
            arithmetic(
                fadd_inst,
                fmul_inst,
                ffma_inst,
                fadd_per_cycle,
                fmul_per_cycle,
                ffma_per_cycle,
                cycles
            ) as plain_fp32,
            case
                when
                    has_packed_fp32(generation)
                    or coalesce(
                        fadd2_inst,
                        fmul2_inst,
                        ffma2_inst,
                        fadd2_per_cycle,
                        fmul2_per_cycle,
                        ffma2_per_cycle
                    )
                    is not null
                then
                    2 * arithmetic(
                        fadd2_inst,
                        fmul2_inst,
                        ffma2_inst,
                        fadd2_per_cycle,
                        fmul2_per_cycle,
                        ffma2_per_cycle,
                        cycles
                    )
                else 0
            end as packed_fp32,
            coalesce(fp32_flop, plain_fp32 + packed_fp32) as fp32,
            coalesce(
                fp16_flop,
                arithmetic(
                    hadd_inst,
                    hmul_inst,
                    hfma_inst,
                    hadd_per_cycle,
                    hmul_per_cycle,
                    hfma_per_cycle,
                    cycles
                )
            ) as fp16,
            coalesce(hadd_inst, hadd_per_cycle * cycles) as hadds,
            coalesce(hmul_inst, hmul_per_cycle * cycles) as hmuls,
            coalesce(hfma_inst, hfma_per_cycle * cycles) as hfmas,
            coalesce(
                fadd_inst + fmul_inst + ffma_inst,
                (fadd_per_cycle + fmul_per_cycle + ffma_per_cycle) * cycles
            ) as fp32_insts,
            -- from 8.0 on, the tensor pipe also runs the FP16 FMAs that move constants, 32 threads
            -- in an instruction; in a kernel of FP32, as many of both are only these
            tensor_inst = 0
            or (
                generation >= 8 and 32 * tensor_inst = hfmas and hfmas < fp32_insts
            ) as is_without_tensor,
            -- tensor instructions of 8 x 8 x 4 FMA are known of capability 7.0 alone
            coalesce(
                tensor_fp16_flop,
                counted_at_rate(tensor_fp16_per_cycle, cycles),
                case
                    when generation < 7 or is_without_tensor
                    then 0
                    when compute_capability = '7.0'
                    then 512 * tensor_inst
                end
            ) as tensor_fp16,
            coalesce(
                tensor_fp64_flop, counted_at_rate(tensor_fp64_per_cycle, cycles)
            ) as tensor_fp64,
            coalesce(
                tensor_tf32_flop, counted_at_rate(tensor_tf32_per_cycle, cycles)
            ) as tensor_tf32,
            coalesce(
                tensor_bf16_flop, counted_at_rate(tensor_bf16_per_cycle, cycles)
            ) as tensor_bf16,
            coalesce(tensor_fp8_flop, counted_at_rate(tensor_fp8_per_cycle, cycles)) as tensor_fp8,
            coalesce(tensor_fp4_flop, counted_at_rate(tensor_fp4_per_cycle, cycles)) as tensor_fp4,
            coalesce(
                tensor_mixed_flop, counted_at_rate(tensor_mixed_per_cycle, cycles)
            ) as tensor_mixed,
            coalesce(tensor_int_flop, counted_at_rate(tensor_int_per_cycle, cycles)) as tensor_int
        from timed
    ),
    typed as (
        select
            *,
            case when fp16_flop is null then 2 * fp16 else fp16 end as fp16_packed,
            case
                when fp16_flop is null and fp16 > 0
                then fp16_kind(hadds, hmuls, hfmas, fp32_insts, thread_count, generation)
                when fp16 > 0
                then 'work'
            end as fp16_kind,
            cast(list_sum([*columns('^tensor_([a-z]+[0-9]+|mixed)$')]) as bigint) as counted_tensor,
            list_filter(
                tensor_kinds(compute_capability, generation),
                lambda kind: case
                    kind
                    when 'bf16'
                    then tensor_bf16
                    when 'fp16'
                    then tensor_fp16
                    when 'tf32'
                    then tensor_tf32
                    when 'fp64'
                    then tensor_fp64
                    when 'fp8'
                    then coalesce(tensor_fp8, tensor_mixed)
                    else coalesce(tensor_fp4, tensor_mixed)
                end
                is null
                and json_extract_string(status_json, '$.tensor_' || kind || '_flop')
                is distinct from 'not_available'
            ) as uncounted_kinds
        from precise
    ),
    summed as (
        select
            *,
            case
                when fp16_kind = 'work' then fp16_packed when fp16 is not null then 0
            end as fp16_work,
            -- the tensor pipe has instructions of its own in kernels without any product, so
            -- operations
            -- decide: none of any type is none, and none of some types is not known
            case
                when
                    counted_tensor > 0
                    or is_without_tensor
                    or tensor_int > 0
                    or len(uncounted_kinds) = 0
                then counted_tensor
            end as tensor
        from typed
    ),
    moved as (
        select
            *,
            case
                when dram_bytes is not null
                then 'bytes'
                when dram_read_bytes + dram_write_bytes is not null
                then 'reads and writes'
                when dram_read_sector_count + dram_write_sector_count is not null
                then 'sectors'
                when dram_bytes_per_s * nullif(dur_ns, 0) is not null
                then 'rate'
            end as dram_basis,
            list_count([*columns('^tensor_([a-z]+[0-9]+|mixed)_per_cycle$')]) as tensor_rate_count,
            coalesce(
                l2_xbar_cycle_count * 32,
                counted_at_rate(l2_xbar_per_s * 32, nullif(dur_ns, 0) * 1e-9)
            ) as l2_vendor,
            coalesce(
                l1_writeback_cycle_count * 128,
                counted_at_rate(l1_writeback_per_s * 128, nullif(dur_ns, 0) * 1e-9)
            ) as l1_vendor
        from summed
    ),
    explained as (
        select
            *,
            case
                when fp64 is null
                then
                    why_not_worked_out(
                        'd', 'fp64', dadd_per_cycle + dmul_per_cycle + dfma_per_cycle, status_json
                    )
            end as fp64_reason,
            case
                when fp32 is not null
                then null
                when plain_fp32 is not null
                then 'packed FP32 instructions (ffma2) not collected'
                else
                    why_not_worked_out(
                        'f', 'fp32', fadd_per_cycle + fmul_per_cycle + ffma_per_cycle, status_json
                    )
            end as fp32_reason,
            case
                when fp16 is null
                then
                    why_not_worked_out(
                        'h', 'fp16', hadd_per_cycle + hmul_per_cycle + hfma_per_cycle, status_json
                    )
            end as fp16_reason,
            case
                when tensor is not null
                then null
                when tensor_inst > 0 and counted_tensor is null and compute_capability is null
                then 'compute capability unknown'
                when tensor_inst > 0 or counted_tensor = 0
                then 'operations on ' || array_to_string(uncounted_kinds, ', ') || ' not collected'
                when tensor_rate_count > 0
                then 'cycles unknown'
                else
                    why_missing(
                        status_json,
                        [
                            '$.tensor_inst',
                            '$.tensor_fp16_flop',
                            '$.tensor_bf16_flop',
                            '$.tensor_fp16_per_cycle',
                            '$.tensor_bf16_per_cycle'
                        ]
                    )
            end as tensor_reason
        from moved
    )
select
    run_id,
    source_id,
    event_id,
    match_index,
    name,
    launch_count,
    launch_index,
    device_id,
    device_name,
    compute_capability,
    'measured' as provenance_kind,
    dur_ns,
    case
        when dur_ns is null
        then why_missing(status_json, ['$.dur_ns', '$.elapsed_cycles', '$.sm_clock_hz'])
    end as dur_reason,
    fp64 as fp64_flop,
    fp64_reason,
    fp32 as fp32_flop,
    fp32_reason,
    fp16_packed as fp16_packed_flop,
    fp16 as fp16_scalar_flop,
    fp16_work as fp16_arithmetic_flop,
    fp16_kind,
    fp16_reason,
    tensor_fp64 as tensor_fp64_flop,
    tensor_tf32 as tensor_tf32_flop,
    tensor_bf16 as tensor_bf16_flop,
    tensor_fp16 as tensor_fp16_flop,
    tensor_fp8 as tensor_fp8_flop,
    tensor_fp4 as tensor_fp4_flop,
    tensor_mixed as tensor_mixed_flop,
    tensor_int as tensor_int_flop,
    tensor as tensor_flop,
    tensor_reason,
    case
        when coalesce(fp64, fp32, fp16, tensor) is not null
        then coalesce(fp64, 0) + coalesce(fp32, 0) + coalesce(fp16_work, 0) + coalesce(tensor, 0)
    end as known_flop,
    fp64 + fp32 + fp16_work + tensor as total_arithmetic_flop,
    fp64 + fp32 + fp16_packed + tensor as total_packed_flop,
    fp64 + fp32 + fp16 + tensor as total_scalar_flop,
    case
        when fp32 is null
        then 'fp32: ' || fp32_reason
        when fp64 is null
        then 'fp64: ' || fp64_reason
        when fp16 is null
        then 'fp16: ' || fp16_reason
        when tensor is null
        then 'tensor: ' || tensor_reason
    end as total_reason,
    missing_metrics(
        compute_capability,
        generation,
        fp64_reason = 'not_collected',
        fp32_reason = 'not_collected',
        starts_with(fp32_reason, 'packed')
        or fp32_reason = 'not_collected'
        and has_packed_fp32(generation),
        fp16_reason = 'not_collected',
        case when tensor_reason like '%not%collected' then uncounted_kinds end
    ) as missing_metrics,
    case
        dram_basis
        when 'bytes'
        then dram_bytes
        when 'reads and writes'
        then dram_read_bytes + dram_write_bytes
        when 'sectors'
        then 32 * (dram_read_sector_count + dram_write_sector_count)
        when 'rate'
        then try_cast(round(dram_bytes_per_s * dur_ns * 1e-9) as bigint)
    end as dram_bytes,
    dram_basis,
    case
        when dram_basis is not null
        then null
        when dram_bytes_per_s is not null
        then 'duration unknown'
        else
            why_missing(
                status_json,
                [
                    '$.dram_bytes',
                    '$.dram_read_bytes',
                    '$.dram_write_bytes',
                    '$.dram_read_sector_count',
                    '$.dram_write_sector_count',
                    '$.dram_bytes_per_s'
                ]
            )
    end as dram_reason,
    l2_t_bytes as l2_paper_bytes,
    l2_vendor as l2_vendor_bytes,
    case
        when coalesce(l2_t_bytes, l2_vendor) is not null
        then null
        when l2_xbar_per_s is not null
        then 'duration unknown'
        else why_missing(status_json, ['$.l2_t_bytes', '$.l2_xbar_cycle_count', '$.l2_xbar_per_s'])
    end as l2_reason,
    l1_t_bytes as l1_paper_bytes,
    l1_vendor as l1_vendor_bytes,
    case
        when coalesce(l1_t_bytes, l1_vendor) is not null
        then null
        when l1_writeback_per_s is not null
        then 'duration unknown'
        else
            why_missing(
                status_json, ['$.l1_t_bytes', '$.l1_writeback_cycle_count', '$.l1_writeback_per_s']
            )
    end as l1_reason,
    2 * dfma_peak_per_cycle * sm_clock_hz as own_fp64_flop_per_s,
    2 * ffma_peak_per_cycle * sm_clock_hz as own_fp32_flop_per_s,
    4 * hfma_peak_per_cycle * sm_clock_hz as own_fp16_flop_per_s,
    tensor_fp64_peak_per_cycle * sm_clock_hz as own_tensor_fp64_flop_per_s,
    dense_peak(tensor_tf32_peak_per_cycle, 'tf32', generation)
    * sm_clock_hz as own_tensor_tf32_flop_per_s,
    dense_peak(tensor_bf16_peak_per_cycle, 'bf16', generation)
    * sm_clock_hz as own_tensor_bf16_flop_per_s,
    dense_peak(tensor_fp16_peak_per_cycle, 'fp16', generation)
    * sm_clock_hz as own_tensor_fp16_flop_per_s,
    dense_peak(tensor_fp8_peak_per_cycle, 'fp8', generation)
    * sm_clock_hz as own_tensor_fp8_flop_per_s,
    dense_peak(tensor_fp4_peak_per_cycle, 'fp4', generation)
    * sm_clock_hz as own_tensor_fp4_flop_per_s,
    dense_peak(tensor_int_peak_per_cycle, 'int8', generation)
    * sm_clock_hz as own_tensor_int8_flop_per_s,
    dram_peak_bytes_per_cycle * dram_clock_hz as own_dram_bytes_per_s,
    l2_t_peak_bytes_per_cycle * l2_clock_hz as own_l2_paper_bytes_per_s,
    32 * l2_xbar_peak_per_cycle * l2_clock_hz as own_l2_vendor_bytes_per_s,
    l1_t_peak_bytes_per_cycle * l1_clock_hz as own_l1_paper_bytes_per_s,
    128 * l1_writeback_peak_per_cycle * l1_clock_hz as own_l1_vendor_bytes_per_s,
    occupancy_ratio,
    compute_throughput_ratio,
    memory_throughput_ratio,
    dram_throughput_ratio
from explained
