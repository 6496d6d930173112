-- purpose = "Work and traffic of every launch that counters tell of: of a counter run as it ran
-- under them, of a timeline that was joined to one as it ran by itself."
-- source = "docs/metrics.md, sections Work, Counters joined to a timeline"
-- needs = ["kernel_counter"]
-- depends = ["counted_work", "joined_kernel"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- event_id = {type = "BIGINT", doc = "place in the source"}
-- name = {type = "VARCHAR", doc = "kernel name, in full"}
-- launch_count = {type = "BIGINT", doc = "launches the row stands for"}
-- launch_index = {type = "BIGINT", doc = "the profiler's own number of the launch; NULL of a
-- timeline"}
-- device_id = {type = "BIGINT", doc = "device"}
-- device_name = {type = "VARCHAR", doc = "of the device; NULL if unknown"}
-- compute_capability = {type = "VARCHAR", doc = "of the device; NULL if unknown"}
-- provenance_kind = {type = "VARCHAR", doc = "measured: by hardware counters; NULL if a launch of
-- a timeline has none"}
-- dur_ns = {type = "BIGINT", doc = "duration: of a launch of a timeline as it ran there, else as
-- counted or cycles / clock"}
-- dur_reason = {type = "VARCHAR", doc = "why the duration is NULL"}
-- fp64_flop = {type = "BIGINT", doc = "FP64 operations, not those of tensor cores"}
-- fp64_reason = {type = "VARCHAR", doc = "why it is NULL"}
-- fp32_flop = {type = "BIGINT", doc = "FP32 operations, not those of tensor cores"}
-- fp32_reason = {type = "VARCHAR", doc = "why it is NULL"}
-- fp16_packed_flop = {type = "BIGINT", doc = "FP16 operations, two for each instruction: 2 add +
-- 2 multiply + 4 FMA (the vendor's convention)"}
-- fp16_scalar_flop = {type = "BIGINT", doc = "FP16 operations, one for each instruction: add +
-- multiply + 2 FMA (the convention of Wang Y. 2020)"}
-- fp16_arithmetic_flop = {type = "BIGINT", doc = "FP16 operations as packed counts them, where
-- the instructions are work; 0 where they are moves or conversions"}
-- fp16_kind = {type = "VARCHAR", doc = "what the FP16 instructions are: work, moves or
-- conversions; NULL if none ran"}
-- fp16_reason = {type = "VARCHAR", doc = "why they are NULL"}
-- tensor_fp64_flop = {type = "BIGINT", doc = "tensor operations on FP64"}
-- tensor_tf32_flop = {type = "BIGINT", doc = "tensor operations on TF32"}
-- tensor_bf16_flop = {type = "BIGINT", doc = "tensor operations on BF16"}
-- tensor_fp16_flop = {type = "BIGINT", doc = "tensor operations on FP16"}
-- tensor_fp8_flop = {type = "BIGINT", doc = "tensor operations on FP8"}
-- tensor_fp4_flop = {type = "BIGINT", doc = "tensor operations on FP4 and FP6"}
-- tensor_mixed_flop = {type = "BIGINT", doc = "tensor operations of several types added up by the
-- tool"}
-- tensor_int_flop = {type = "BIGINT", doc = "tensor operations on integers; not in the sums, but
-- in the time at peak"}
-- tensor_flop = {type = "BIGINT", doc = "tensor operations of all floating-point types"}
-- tensor_reason = {type = "VARCHAR", doc = "why the sum is NULL"}
-- known_flop = {type = "BIGINT", doc = "all operations that were counted; FP16 as work"}
-- total_arithmetic_flop = {type = "BIGINT", doc = "all operations, FP16 as work alone; NULL
-- unless every precision was counted"}
-- total_packed_flop = {type = "BIGINT", doc = "all operations, FP16 packed; NULL unless every
-- precision was counted"}
-- total_scalar_flop = {type = "BIGINT", doc = "all operations, FP16 scalar; NULL unless every
-- precision was counted"}
-- total_reason = {type = "VARCHAR", doc = "which precision is missing, and why"}
-- missing_metrics = {type = "VARCHAR", doc = "what the profiler's --metrics has to name beside
-- for a total; NULL if nothing is missing"}
-- dram_bytes = {type = "BIGINT", doc = "bytes to and from device memory"}
-- dram_basis = {type = "VARCHAR", doc = "bytes, reads and writes, sectors (of 32 bytes) or rate
-- (times the duration)"}
-- dram_reason = {type = "VARCHAR", doc = "why they are NULL"}
-- l2_paper_bytes = {type = "BIGINT", doc = "L2 bytes as the papers count them: lts__t_bytes"}
-- l2_vendor_bytes = {type = "BIGINT", doc = "L2 bytes as the vendor's newer sections count them:
-- transfers to the crossbar x 32"}
-- l2_reason = {type = "VARCHAR", doc = "why both are NULL"}
-- l1_paper_bytes = {type = "BIGINT", doc = "L1 bytes as the papers count them: l1tex__t_bytes"}
-- l1_vendor_bytes = {type = "BIGINT", doc = "L1 bytes as the vendor's newer sections count them:
-- write-backs x 128"}
-- l1_reason = {type = "VARCHAR", doc = "why both are NULL"}
-- own_fp64_flop_per_s = {type = "DOUBLE", doc = "what this launch could do at its clock, by the
-- report's peak_sustained: FP64"}
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
-- own_l2_vendor_bytes_per_s = {type = "DOUBLE", doc = "the same: L2, transfers to the crossbar x
-- 32"}
-- own_l1_paper_bytes_per_s = {type = "DOUBLE", doc = "the same: L1, l1tex__t_bytes"}
-- own_l1_vendor_bytes_per_s = {type = "DOUBLE", doc = "the same: L1, write-backs x 128"}
-- occupancy_ratio = {type = "DOUBLE", doc = "achieved occupancy"}
-- compute_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: compute"}
-- memory_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: memory"}
-- dram_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: device memory"}
with
    -- what was counted in the run of a joined timeline itself are its launches once more
    joined_run as (
        select distinct run_id, true as is_joined from source_file where recording_kind = 'join'
    )
select * exclude (match_index, is_joined)
from counted_work
left join joined_run using (run_id)
where match_index is null and is_joined is null
union all by name
select
    * exclude (
        match_kind, fit_count, counted_ns, flop_spread_ratio, dram_spread_ratio, match_reason
    )
from joined_kernel
