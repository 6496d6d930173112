-- purpose = "Work and traffic of every launch that counters were collected of, as it ran under them, and of those that a join has taken: operations by precision, bytes by level, each with why it is NULL."
-- source = "docs/metrics.md, section Work; NVIDIA Nsight Compute's roofline sections; Wang Y. 2020 (Time-Based Roofline), sect. III"
-- needs = ["kernel_counter"]
-- depends = ["counted_launch", "device_known", "arithmetic", "duration_of", "why_missing", "dense_peak", "fp16_kind", "has_packed_fp32", "tensor_kinds", "missing_metrics"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- event_id = {type = "BIGINT", doc = "place in the source"}
-- match_index = {type = "BIGINT", doc = "of a join: kernel_match.match_index; NULL of the counter run itself"}
-- name = {type = "VARCHAR", doc = "kernel name, in full"}
-- launch_count = {type = "BIGINT", doc = "launches the row stands for"}
-- launch_index = {type = "BIGINT", doc = "the profiler's own number of the launch"}
-- device_id = {type = "BIGINT", doc = "device"}
-- device_name = {type = "VARCHAR", doc = "of the device; NULL if unknown"}
-- compute_capability = {type = "VARCHAR", doc = "of the device; NULL if unknown"}
-- provenance_kind = {type = "VARCHAR", doc = "measured: by hardware counters"}
-- dur_ns = {type = "BIGINT", doc = "duration, as counted or cycles / clock"}
-- dur_reason = {type = "VARCHAR", doc = "why the duration is NULL"}
-- fp64_flop = {type = "BIGINT", doc = "FP64 operations, not those of tensor cores"}
-- fp64_reason = {type = "VARCHAR", doc = "why it is NULL"}
-- fp32_flop = {type = "BIGINT", doc = "FP32 operations, not those of tensor cores"}
-- fp32_reason = {type = "VARCHAR", doc = "why it is NULL"}
-- fp16_packed_flop = {type = "BIGINT", doc = "FP16 operations, two for each instruction: 2 add + 2 multiply + 4 FMA (the vendor's convention)"}
-- fp16_scalar_flop = {type = "BIGINT", doc = "FP16 operations, one for each instruction: add + multiply + 2 FMA (the convention of Wang Y. 2020)"}
-- fp16_arithmetic_flop = {type = "BIGINT", doc = "FP16 operations as packed counts them, where the instructions are work; 0 where they are moves or conversions"}
-- fp16_kind = {type = "VARCHAR", doc = "what the FP16 instructions are: work, moves or conversions; NULL where none ran"}
-- fp16_reason = {type = "VARCHAR", doc = "why they are NULL"}
-- tensor_fp64_flop = {type = "BIGINT", doc = "tensor operations on FP64"}
-- tensor_tf32_flop = {type = "BIGINT", doc = "tensor operations on TF32"}
-- tensor_bf16_flop = {type = "BIGINT", doc = "tensor operations on BF16"}
-- tensor_fp16_flop = {type = "BIGINT", doc = "tensor operations on FP16"}
-- tensor_fp8_flop = {type = "BIGINT", doc = "tensor operations on FP8"}
-- tensor_fp4_flop = {type = "BIGINT", doc = "tensor operations on FP4 and FP6"}
-- tensor_mixed_flop = {type = "BIGINT", doc = "tensor operations of several types added up by the tool"}
-- tensor_int_flop = {type = "BIGINT", doc = "tensor operations on integers; not in the sums, but in the time at peak"}
-- tensor_flop = {type = "BIGINT", doc = "tensor operations of all floating-point types"}
-- tensor_reason = {type = "VARCHAR", doc = "why the sum is NULL"}
-- known_flop = {type = "BIGINT", doc = "all operations that were counted; FP16 as work"}
-- total_arithmetic_flop = {type = "BIGINT", doc = "all operations, FP16 as work alone; NULL unless every precision was counted"}
-- total_packed_flop = {type = "BIGINT", doc = "all operations, FP16 packed; NULL unless every precision was counted"}
-- total_scalar_flop = {type = "BIGINT", doc = "all operations, FP16 scalar; NULL unless every precision was counted"}
-- total_reason = {type = "VARCHAR", doc = "which precision is missing, and why"}
-- missing_metrics = {type = "VARCHAR", doc = "what the profiler's --metrics has to name beside for a total; NULL where nothing is missing"}
-- dram_bytes = {type = "BIGINT", doc = "bytes to and from device memory"}
-- dram_basis = {type = "VARCHAR", doc = "bytes, reads and writes, sectors (of 32 bytes) or rate (times the duration)"}
-- dram_reason = {type = "VARCHAR", doc = "why they are NULL"}
-- l2_paper_bytes = {type = "BIGINT", doc = "L2 bytes as the papers count them: lts__t_bytes"}
-- l2_vendor_bytes = {type = "BIGINT", doc = "L2 bytes as the vendor's newer sections count them: transfers to the crossbar x 32"}
-- l2_reason = {type = "VARCHAR", doc = "why both are NULL"}
-- l1_paper_bytes = {type = "BIGINT", doc = "L1 bytes as the papers count them: l1tex__t_bytes"}
-- l1_vendor_bytes = {type = "BIGINT", doc = "L1 bytes as the vendor's newer sections count them: write-backs x 128"}
-- l1_reason = {type = "VARCHAR", doc = "why both are NULL"}
-- own_fp64_flop_per_s = {type = "DOUBLE", doc = "what this launch could do at its clock, by the report's peak_sustained: FP64"}
-- own_fp32_flop_per_s = {type = "DOUBLE", doc = "the same: FP32"}
-- own_fp16_flop_per_s = {type = "DOUBLE", doc = "the same: FP16, packed"}
-- own_tensor_fp64_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on FP64"}
-- own_tensor_tf32_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on TF32"}
-- own_tensor_bf16_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on BF16"}
-- own_tensor_fp16_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on FP16"}
-- own_tensor_fp8_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on FP8"}
-- own_tensor_fp4_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on FP4 and FP6"}
-- own_tensor_int8_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on integers"}
-- own_dram_bytes_per_s = {type = "DOUBLE", doc = "the same: device memory, at its own clock"}
-- own_l2_paper_bytes_per_s = {type = "DOUBLE", doc = "the same: L2, lts__t_bytes"}
-- own_l2_vendor_bytes_per_s = {type = "DOUBLE", doc = "the same: L2, transfers to the crossbar x 32"}
-- own_l1_paper_bytes_per_s = {type = "DOUBLE", doc = "the same: L1, l1tex__t_bytes"}
-- own_l1_vendor_bytes_per_s = {type = "DOUBLE", doc = "the same: L1, write-backs x 128"}
-- occupancy_ratio = {type = "DOUBLE", doc = "achieved occupancy"}
-- compute_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: compute"}
-- memory_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: memory"}
-- dram_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: device memory"}
WITH
launches AS NOT MATERIALIZED (
    SELECT launch.*, device_known.device_name, device_known.compute_capability, device_known.capability_major AS generation
    FROM counted_launch AS launch
    LEFT JOIN device_known
        ON device_known.run_id = launch.run_id
        AND device_known.source_id = launch.source_id
        AND device_known.device_id IS NOT DISTINCT FROM launch.device_id
    UNION ALL BY NAME
    SELECT * EXCLUDE (counter_source_id, launch_key), TRY_CAST(split_part(compute_capability, '.', 1) AS BIGINT) AS generation
    FROM match_counter
),
timed AS (
    SELECT
        * REPLACE (
            coalesce(launch_count, 1) AS launch_count,
            duration_of(dur_ns, elapsed_cycles, sm_clock_hz) AS dur_ns
        ),
        -- a rate over no time at all is not a count of zero
        coalesce(nullif(launches.dur_ns, 0) * 1e-9 * sm_clock_hz, nullif(elapsed_cycles, 0)) AS cycles,
        launch_count * grid_x * grid_y * grid_z * block_x * block_y * block_z AS thread_count
    FROM launches
),
precise AS (
    SELECT
        *,
        coalesce(
            fp64_flop,
            arithmetic(dadd_inst, dmul_inst, dfma_inst, dadd_per_cycle, dmul_per_cycle, dfma_per_cycle, cycles)
        ) AS fp64,
        arithmetic(fadd_inst, fmul_inst, ffma_inst, fadd_per_cycle, fmul_per_cycle, ffma_per_cycle, cycles)
            AS plain_fp32,
        CASE
            WHEN has_packed_fp32(generation) OR coalesce(fadd2_inst, fmul2_inst, ffma2_inst, fadd2_per_cycle, fmul2_per_cycle, ffma2_per_cycle) IS NOT NULL
            THEN 2 * arithmetic(fadd2_inst, fmul2_inst, ffma2_inst, fadd2_per_cycle, fmul2_per_cycle, ffma2_per_cycle, cycles)
            ELSE 0
        END AS packed_fp32,
        coalesce(fp32_flop, plain_fp32 + packed_fp32) AS fp32,
        coalesce(
            fp16_flop,
            arithmetic(hadd_inst, hmul_inst, hfma_inst, hadd_per_cycle, hmul_per_cycle, hfma_per_cycle, cycles)
        ) AS fp16,
        coalesce(hadd_inst, hadd_per_cycle * cycles) AS hadds,
        coalesce(hmul_inst, hmul_per_cycle * cycles) AS hmuls,
        coalesce(hfma_inst, hfma_per_cycle * cycles) AS hfmas,
        coalesce(fadd_inst + fmul_inst + ffma_inst, (fadd_per_cycle + fmul_per_cycle + ffma_per_cycle) * cycles)
            AS fp32_insts,
        -- tensor instructions of 8 x 8 x 4 FMA are known of capability 7.0 alone
        coalesce(
            tensor_fp16_flop,
            TRY_CAST(round(tensor_fp16_per_cycle * cycles) AS BIGINT),
            CASE
                WHEN generation < 7 OR tensor_inst = 0 THEN 0
                WHEN compute_capability = '7.0' THEN 512 * tensor_inst
            END
        ) AS tensor_fp16,
        coalesce(tensor_fp64_flop, TRY_CAST(round(tensor_fp64_per_cycle * cycles) AS BIGINT)) AS tensor_fp64,
        coalesce(tensor_tf32_flop, TRY_CAST(round(tensor_tf32_per_cycle * cycles) AS BIGINT)) AS tensor_tf32,
        coalesce(tensor_bf16_flop, TRY_CAST(round(tensor_bf16_per_cycle * cycles) AS BIGINT)) AS tensor_bf16,
        coalesce(tensor_fp8_flop, TRY_CAST(round(tensor_fp8_per_cycle * cycles) AS BIGINT)) AS tensor_fp8,
        coalesce(tensor_fp4_flop, TRY_CAST(round(tensor_fp4_per_cycle * cycles) AS BIGINT)) AS tensor_fp4,
        coalesce(tensor_mixed_flop, TRY_CAST(round(tensor_mixed_per_cycle * cycles) AS BIGINT)) AS tensor_mixed,
        coalesce(tensor_int_flop, TRY_CAST(round(tensor_int_per_cycle * cycles) AS BIGINT)) AS tensor_int
    FROM timed
),
typed AS (
    SELECT
        *,
        CASE WHEN fp16_flop IS NULL THEN 2 * fp16 ELSE fp16 END AS fp16_packed,
        CASE
            WHEN fp16_flop IS NULL AND fp16 > 0 THEN fp16_kind(hadds, hmuls, hfmas, fp32_insts, thread_count, generation)
            WHEN fp16 > 0 THEN 'work'
        END AS fp16_kind,
        CASE
            WHEN coalesce(tensor_fp16, tensor_fp64, tensor_tf32, tensor_bf16, tensor_fp8, tensor_fp4, tensor_mixed) IS NOT NULL
            THEN coalesce(tensor_fp16, 0) + coalesce(tensor_fp64, 0) + coalesce(tensor_tf32, 0)
                + coalesce(tensor_bf16, 0) + coalesce(tensor_fp8, 0) + coalesce(tensor_fp4, 0)
                + coalesce(tensor_mixed, 0)
        END AS counted_tensor,
        list_filter(
            tensor_kinds(compute_capability, generation),
            lambda kind: CASE kind
                WHEN 'bf16' THEN tensor_bf16
                WHEN 'fp16' THEN tensor_fp16
                WHEN 'tf32' THEN tensor_tf32
                WHEN 'fp64' THEN tensor_fp64
                WHEN 'fp8' THEN coalesce(tensor_fp8, tensor_mixed)
                ELSE coalesce(tensor_fp4, tensor_mixed)
            END IS NULL AND json_extract_string(status_json, '$.tensor_' || kind || '_flop') IS DISTINCT FROM 'not_available'
        ) AS uncounted_kinds
    FROM precise
),
summed AS (
    SELECT
        *,
        CASE WHEN fp16_kind = 'work' THEN fp16_packed WHEN fp16 IS NOT NULL THEN 0 END AS fp16_work,
        -- the tensor pipe has instructions of its own in kernels without any product, so operations
        -- decide: none of any type is none, and none of some types is not known
        CASE
            WHEN counted_tensor > 0 OR tensor_inst = 0 OR tensor_int > 0 OR len(uncounted_kinds) = 0
            THEN counted_tensor
        END AS tensor
    FROM typed
),
moved AS (
    SELECT
        *,
        CASE
            WHEN dram_bytes IS NOT NULL THEN 'bytes'
            WHEN dram_read_bytes + dram_write_bytes IS NOT NULL THEN 'reads and writes'
            WHEN dram_read_sector_count + dram_write_sector_count IS NOT NULL THEN 'sectors'
            WHEN dram_bytes_per_s * nullif(dur_ns, 0) IS NOT NULL THEN 'rate'
        END AS dram_basis,
        coalesce(
            l2_xbar_cycle_count * 32, TRY_CAST(round(l2_xbar_per_s * 32 * nullif(dur_ns, 0) * 1e-9) AS BIGINT)
        ) AS l2_vendor,
        coalesce(
            l1_writeback_cycle_count * 128,
            TRY_CAST(round(l1_writeback_per_s * 128 * nullif(dur_ns, 0) * 1e-9) AS BIGINT)
        ) AS l1_vendor
    FROM summed
),
explained AS (
    SELECT
        *,
        CASE
            WHEN fp64 IS NOT NULL THEN NULL
            WHEN dadd_per_cycle + dmul_per_cycle + dfma_per_cycle IS NOT NULL THEN 'cycles not known'
            ELSE why_missing(status_json, ['$.dadd_inst', '$.dmul_inst', '$.dfma_inst', '$.dadd_per_cycle', '$.dmul_per_cycle', '$.dfma_per_cycle', '$.fp64_flop'])
        END AS fp64_reason,
        CASE
            WHEN fp32 IS NOT NULL THEN NULL
            WHEN plain_fp32 IS NOT NULL THEN 'packed FP32 instructions (ffma2) not collected'
            WHEN fadd_per_cycle + fmul_per_cycle + ffma_per_cycle IS NOT NULL THEN 'cycles not known'
            ELSE why_missing(status_json, ['$.fadd_inst', '$.fmul_inst', '$.ffma_inst', '$.fadd_per_cycle', '$.fmul_per_cycle', '$.ffma_per_cycle', '$.fp32_flop'])
        END AS fp32_reason,
        CASE
            WHEN fp16 IS NOT NULL THEN NULL
            WHEN hadd_per_cycle + hmul_per_cycle + hfma_per_cycle IS NOT NULL THEN 'cycles not known'
            ELSE why_missing(status_json, ['$.hadd_inst', '$.hmul_inst', '$.hfma_inst', '$.hadd_per_cycle', '$.hmul_per_cycle', '$.hfma_per_cycle', '$.fp16_flop'])
        END AS fp16_reason,
        CASE
            WHEN tensor IS NOT NULL THEN NULL
            WHEN tensor_inst > 0 AND counted_tensor IS NULL AND compute_capability IS NULL THEN 'compute capability not known'
            WHEN tensor_inst > 0 OR counted_tensor = 0
            THEN 'operations on ' || array_to_string(uncounted_kinds, ', ') || ' not collected'
            WHEN coalesce(tensor_fp16_per_cycle, tensor_fp64_per_cycle, tensor_tf32_per_cycle, tensor_bf16_per_cycle, tensor_fp8_per_cycle, tensor_fp4_per_cycle, tensor_mixed_per_cycle) IS NOT NULL
            THEN 'cycles not known'
            ELSE why_missing(status_json, ['$.tensor_inst', '$.tensor_fp16_flop', '$.tensor_bf16_flop', '$.tensor_fp16_per_cycle', '$.tensor_bf16_per_cycle'])
        END AS tensor_reason
    FROM moved
)
SELECT
    run_id, source_id, event_id, match_index, name, launch_count, launch_index, device_id, device_name,
    compute_capability, 'measured' AS provenance_kind,
    dur_ns,
    CASE WHEN dur_ns IS NULL THEN why_missing(status_json, ['$.dur_ns', '$.elapsed_cycles', '$.sm_clock_hz']) END
        AS dur_reason,
    fp64 AS fp64_flop, fp64_reason, fp32 AS fp32_flop, fp32_reason,
    fp16_packed AS fp16_packed_flop, fp16 AS fp16_scalar_flop, fp16_work AS fp16_arithmetic_flop,
    fp16_kind, fp16_reason,
    tensor_fp64 AS tensor_fp64_flop, tensor_tf32 AS tensor_tf32_flop,
    tensor_bf16 AS tensor_bf16_flop, tensor_fp16 AS tensor_fp16_flop,
    tensor_fp8 AS tensor_fp8_flop, tensor_fp4 AS tensor_fp4_flop,
    tensor_mixed AS tensor_mixed_flop, tensor_int AS tensor_int_flop,
    tensor AS tensor_flop, tensor_reason,
    CASE
        WHEN coalesce(fp64, fp32, fp16, tensor) IS NOT NULL
        THEN coalesce(fp64, 0) + coalesce(fp32, 0) + coalesce(fp16_work, 0) + coalesce(tensor, 0)
    END AS known_flop,
    fp64 + fp32 + fp16_work + tensor AS total_arithmetic_flop,
    fp64 + fp32 + fp16_packed + tensor AS total_packed_flop,
    fp64 + fp32 + fp16 + tensor AS total_scalar_flop,
    CASE
        WHEN fp32 IS NULL THEN 'fp32: ' || fp32_reason
        WHEN fp64 IS NULL THEN 'fp64: ' || fp64_reason
        WHEN fp16 IS NULL THEN 'fp16: ' || fp16_reason
        WHEN tensor IS NULL THEN 'tensor: ' || tensor_reason
    END AS total_reason,
    missing_metrics(
        compute_capability, generation, fp64_reason = 'not_collected', fp32_reason = 'not_collected',
        starts_with(fp32_reason, 'packed') OR fp32_reason = 'not_collected' AND has_packed_fp32(generation), fp16_reason = 'not_collected',
        CASE WHEN tensor_reason LIKE '%not%collected' THEN uncounted_kinds END
    ) AS missing_metrics,
    CASE dram_basis
        WHEN 'bytes' THEN dram_bytes
        WHEN 'reads and writes' THEN dram_read_bytes + dram_write_bytes
        WHEN 'sectors' THEN 32 * (dram_read_sector_count + dram_write_sector_count)
        WHEN 'rate' THEN TRY_CAST(round(dram_bytes_per_s * dur_ns * 1e-9) AS BIGINT)
    END AS dram_bytes,
    dram_basis,
    CASE
        WHEN dram_basis IS NOT NULL THEN NULL
        WHEN dram_bytes_per_s IS NOT NULL THEN 'duration not known'
        ELSE why_missing(status_json, ['$.dram_bytes', '$.dram_read_bytes', '$.dram_write_bytes', '$.dram_read_sector_count', '$.dram_write_sector_count', '$.dram_bytes_per_s'])
    END AS dram_reason,
    l2_t_bytes AS l2_paper_bytes,
    l2_vendor AS l2_vendor_bytes,
    CASE
        WHEN coalesce(l2_t_bytes, l2_vendor) IS NOT NULL THEN NULL
        WHEN l2_xbar_per_s IS NOT NULL THEN 'duration not known'
        ELSE why_missing(status_json, ['$.l2_t_bytes', '$.l2_xbar_cycle_count', '$.l2_xbar_per_s'])
    END AS l2_reason,
    l1_t_bytes AS l1_paper_bytes,
    l1_vendor AS l1_vendor_bytes,
    CASE
        WHEN coalesce(l1_t_bytes, l1_vendor) IS NOT NULL THEN NULL
        WHEN l1_writeback_per_s IS NOT NULL THEN 'duration not known'
        ELSE why_missing(status_json, ['$.l1_t_bytes', '$.l1_writeback_cycle_count', '$.l1_writeback_per_s'])
    END AS l1_reason,
    2 * dfma_peak_per_cycle * sm_clock_hz AS own_fp64_flop_per_s,
    2 * ffma_peak_per_cycle * sm_clock_hz AS own_fp32_flop_per_s,
    4 * hfma_peak_per_cycle * sm_clock_hz AS own_fp16_flop_per_s,
    tensor_fp64_peak_per_cycle * sm_clock_hz AS own_tensor_fp64_flop_per_s,
    dense_peak(tensor_tf32_peak_per_cycle, 'tf32', generation) * sm_clock_hz AS own_tensor_tf32_flop_per_s,
    dense_peak(tensor_bf16_peak_per_cycle, 'bf16', generation) * sm_clock_hz AS own_tensor_bf16_flop_per_s,
    dense_peak(tensor_fp16_peak_per_cycle, 'fp16', generation) * sm_clock_hz AS own_tensor_fp16_flop_per_s,
    dense_peak(tensor_fp8_peak_per_cycle, 'fp8', generation) * sm_clock_hz AS own_tensor_fp8_flop_per_s,
    dense_peak(tensor_fp4_peak_per_cycle, 'fp4', generation) * sm_clock_hz AS own_tensor_fp4_flop_per_s,
    dense_peak(tensor_int_peak_per_cycle, 'int8', generation) * sm_clock_hz AS own_tensor_int8_flop_per_s,
    dram_peak_bytes_per_cycle * dram_clock_hz AS own_dram_bytes_per_s,
    l2_t_peak_bytes_per_cycle * l2_clock_hz AS own_l2_paper_bytes_per_s,
    32 * l2_xbar_peak_per_cycle * l2_clock_hz AS own_l2_vendor_bytes_per_s,
    l1_t_peak_bytes_per_cycle * l1_clock_hz AS own_l1_paper_bytes_per_s,
    128 * l1_writeback_peak_per_cycle * l1_clock_hz AS own_l1_vendor_bytes_per_s,
    occupancy_ratio, compute_throughput_ratio, memory_throughput_ratio, dram_throughput_ratio
FROM explained
