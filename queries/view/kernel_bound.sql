-- purpose = "Every launch with counters against the ceilings of its device: time at peak by
-- operations and by level of memory, and what bounds it; with all columns of kernel_work."
-- source = "Wang Y. 2020 (Time-Based Roofline), eq. 1 and sect. II; docs/metrics.md, section
-- Ceilings"
-- needs = ["kernel_counter"]
-- depends = ["kernel_work", "device_peak", "time_at_peak", "roof_of", "busy_what"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- event_id = {type = "BIGINT", doc = "place in the source"}
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
-- fp64_flop_per_s = {type = "DOUBLE", doc = "ceiling of the device (by the user, else its data
-- sheet), else the launch's own: FP64"}
-- fp32_flop_per_s = {type = "DOUBLE", doc = "the same: FP32"}
-- fp16_flop_per_s = {type = "DOUBLE", doc = "the same: FP16, packed"}
-- tensor_fp64_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on FP64"}
-- tensor_tf32_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on TF32"}
-- tensor_bf16_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on BF16"}
-- tensor_fp16_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on FP16"}
-- tensor_fp8_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on FP8"}
-- tensor_fp4_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on FP4"}
-- tensor_int8_flop_per_s = {type = "DOUBLE", doc = "the same: tensor operations on integers"}
-- dram_bytes_per_s = {type = "DOUBLE", doc = "the same: device memory"}
-- compute_ns = {type = "DOUBLE", doc = "time of the operations at peak, precisions one after the
-- other, those of tensor cores on integers too; FP16 as work alone"}
-- fp16_beside_ns = {type = "DOUBLE", doc = "time at peak of the FP16 instructions that are no
-- work: what the packed and scalar conventions add to it"}
-- dram_ns = {type = "DOUBLE", doc = "time of the device memory traffic at peak"}
-- l2_ns = {type = "DOUBLE", doc = "the same of L2: as the papers count it, else as the vendor
-- does"}
-- l1_ns = {type = "DOUBLE", doc = "the same of L1"}
-- overhead_ns = {type = "DOUBLE", doc = "time of the launches themselves; NULL if it is unknown"}
-- roof_ratio = {type = "DOUBLE", doc = "longest time at peak / duration: how near to its roof the
-- launch is"}
-- nearest_name = {type = "VARCHAR", doc = "the longest of its times at peak: compute, dram, l2 or
-- l1; where that is far, memory throughput or compute throughput if the report itself says that
-- it is busy"}
-- bound_kind = {type = "VARCHAR", doc = "overhead, latency (below 0.6 of every roof), bandwidth
-- or compute; NULL if a time is unknown"}
-- is_above_roof = {type = "BOOLEAN", doc = "roof_ratio above 1: the data or the peak is wrong, or
-- the clock above its data sheet"}
-- bound_reason = {type = "VARCHAR", doc = "why bound_kind is NULL"}
with
    held as (
        select
            work.*,
            coalesce(device_peak.fp64_flop_per_s, own_fp64_flop_per_s) as fp64_flop_per_s,
            coalesce(device_peak.fp32_flop_per_s, own_fp32_flop_per_s) as fp32_flop_per_s,
            coalesce(device_peak.fp16_flop_per_s, own_fp16_flop_per_s) as fp16_flop_per_s,
            coalesce(
                device_peak.tensor_fp64_flop_per_s, own_tensor_fp64_flop_per_s
            ) as tensor_fp64_flop_per_s,
            coalesce(
                device_peak.tensor_tf32_flop_per_s, own_tensor_tf32_flop_per_s
            ) as tensor_tf32_flop_per_s,
            coalesce(
                device_peak.tensor_bf16_flop_per_s, own_tensor_bf16_flop_per_s
            ) as tensor_bf16_flop_per_s,
            coalesce(
                device_peak.tensor_fp16_flop_per_s, own_tensor_fp16_flop_per_s
            ) as tensor_fp16_flop_per_s,
            coalesce(
                device_peak.tensor_fp8_flop_per_s, own_tensor_fp8_flop_per_s
            ) as tensor_fp8_flop_per_s,
            coalesce(
                device_peak.tensor_fp4_flop_per_s, own_tensor_fp4_flop_per_s
            ) as tensor_fp4_flop_per_s,
            coalesce(
                device_peak.tensor_int8_flop_per_s, own_tensor_int8_flop_per_s
            ) as tensor_int8_flop_per_s,
            coalesce(device_peak.dram_bytes_per_s, own_dram_bytes_per_s) as dram_bytes_per_s,
            device_peak.l2_bytes_per_s as l2_peak,
            device_peak.l1_bytes_per_s as l1_peak,
            device_peak.launch_overhead_ns as launch_ns
        from kernel_work as work
        left join
            device_peak
            on device_peak.run_id = work.run_id
            and device_peak.source_id = work.source_id
            and device_peak.device_id is not distinct from work.device_id
    ),
    timed as (
        select
            *,
            case
                when total_arithmetic_flop is not null
                then
                    time_at_peak(fp64_flop, fp64_flop_per_s)
                    + time_at_peak(fp32_flop, fp32_flop_per_s)
                    + time_at_peak(fp16_arithmetic_flop, fp16_flop_per_s)
                    + time_at_peak(coalesce(tensor_fp64_flop, 0), tensor_fp64_flop_per_s)
                    + time_at_peak(coalesce(tensor_tf32_flop, 0), tensor_tf32_flop_per_s)
                    + time_at_peak(coalesce(tensor_bf16_flop, 0), tensor_bf16_flop_per_s)
                    + time_at_peak(coalesce(tensor_fp16_flop, 0), tensor_fp16_flop_per_s)
                    + time_at_peak(coalesce(tensor_fp8_flop, 0), tensor_fp8_flop_per_s)
                    + time_at_peak(coalesce(tensor_fp4_flop, 0), tensor_fp4_flop_per_s)
                    + time_at_peak(coalesce(tensor_mixed_flop, 0), null)
                    + time_at_peak(coalesce(tensor_int_flop, 0), tensor_int8_flop_per_s)
            end as compute_ns,
            time_at_peak(
                fp16_packed_flop - fp16_arithmetic_flop, fp16_flop_per_s
            ) as fp16_beside_ns,
            time_at_peak(dram_bytes, dram_bytes_per_s) as dram_ns,
            case
                when l2_paper_bytes is not null
                then time_at_peak(l2_paper_bytes, coalesce(l2_peak, own_l2_paper_bytes_per_s))
                else time_at_peak(l2_vendor_bytes, coalesce(l2_peak, own_l2_vendor_bytes_per_s))
            end as l2_ns,
            case
                when l1_paper_bytes is not null
                then time_at_peak(l1_paper_bytes, coalesce(l1_peak, own_l1_paper_bytes_per_s))
                else time_at_peak(l1_vendor_bytes, coalesce(l1_peak, own_l1_vendor_bytes_per_s))
            end as l1_ns,
            launch_count * launch_ns as overhead_ns
        from held
    ),
    bounded as (
        select
            *,
            unnest(
                roof_of(
                    compute_ns,
                    dram_ns,
                    l2_ns,
                    l1_ns,
                    overhead_ns,
                    dur_ns,
                    busy_what(compute_throughput_ratio, memory_throughput_ratio, 0.6),
                    0.6
                )
            )
        from timed
    )
select
    * exclude (l2_peak, l1_peak, launch_ns),
    case
        when bound_kind is not null
        then null
        when total_reason is not null
        then total_reason
        when compute_ns is null and device_name is null
        then 'device not known'
        when compute_ns is null
        then 'no peak for this device'
        when dram_reason is not null
        then 'dram: ' || dram_reason
        when dram_ns is null and device_name is null
        then 'device not known'
        when dram_ns is null
        then 'no bandwidth for this device'
        when dur_ns is null
        then 'duration: ' || dur_reason
        else 'duration of zero'
    end as bound_reason
from bounded
