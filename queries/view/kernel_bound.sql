-- purpose = "Launches with counters and the ceilings of their device: times at peak and bound;
-- with all columns of kernel_work."
-- source = "Wang Y. 2020 (Time-Based Roofline), eq. 1 and sect. II; docs/metrics.md, section
-- Ceilings"
-- needs = ["kernel_counter"]
-- depends = ["kernel_work", "device_peak", "time_at_peak", "roof_of", "busy_what",
-- "usual_latency_ratio", "possible_ratio", "roof_reason"]
-- empty_without = ["kernel_counter", "match_counter", "kernel_match"]
-- columns = "run_id source_id event_id name launch_count-row launch_index device_id device_name
-- compute_capability provenance_kind-measured dur_ns-counted dur_reason fp64_flop fp64_reason
-- fp32_flop fp32_reason fp16_packed_flop fp16_scalar_flop fp16_arithmetic_flop fp16_kind
-- fp16_reason tensor_fp64_flop tensor_tf32_flop tensor_bf16_flop tensor_fp16_flop tensor_fp8_flop
-- tensor_fp4_flop tensor_mixed_flop tensor_int_flop tensor_flop tensor_reason known_flop-counted
-- total_arithmetic_flop total_packed_flop total_scalar_flop total_reason missing_metrics
-- dram_bytes dram_basis dram_reason l2_paper_bytes l2_vendor_bytes l2_reason l1_paper_bytes
-- l1_vendor_bytes l1_reason own_fp64_flop_per_s own_fp32_flop_per_s own_fp16_flop_per_s
-- own_tensor_fp64_flop_per_s own_tensor_tf32_flop_per_s own_tensor_bf16_flop_per_s
-- own_tensor_fp16_flop_per_s own_tensor_fp8_flop_per_s own_tensor_fp4_flop_per_s
-- own_tensor_int8_flop_per_s own_dram_bytes_per_s own_l2_paper_bytes_per_s
-- own_l2_vendor_bytes_per_s own_l1_paper_bytes_per_s own_l1_vendor_bytes_per_s occupancy_ratio
-- compute_throughput_ratio memory_throughput_ratio dram_throughput_ratio fp64_flop_per_s
-- fp32_flop_per_s fp16_flop_per_s tensor_fp64_flop_per_s tensor_tf32_flop_per_s
-- tensor_bf16_flop_per_s tensor_fp16_flop_per_s tensor_fp8_flop_per_s tensor_fp4_flop_per_s
-- tensor_int8_flop_per_s dram_bytes_per_s compute_ns fp16_beside_ns dram_ns l2_ns l1_ns
-- overhead_ns roof_ratio nearest_name-launches bound_kind is_above_roof bound_reason"
-- fp64_flop_per_s = "DOUBLE: FP64 ceiling of the device (from the user, else its data sheet),
-- else of the launch; so are the next"
-- compute_ns = "time of the operations at peak, one precision after another, with those of tensor
-- cores on integers; FP16 only as work"
-- fp16_beside_ns = "DOUBLE: time at peak of FP16 instructions without work: what the packed and
-- scalar conventions add"
-- l2_ns = "DOUBLE: time of the L2 traffic at peak: as the papers count it, else as the vendor does"
-- l1_ns = "DOUBLE: time of the L1 traffic at peak, likewise"
-- roof_ratio = "longest time at peak / duration; NULL above 1.05"
-- bound_kind = "overhead, latency (below 0.6 of every roof), bandwidth or compute; NULL if a time
-- is unknown"
-- is_above_roof = "BOOLEAN: that time is longer: the data or the peak is wrong, or the clock is
-- above its data sheet"
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
                    busy_what(
                        compute_throughput_ratio, memory_throughput_ratio, usual_latency_ratio()
                    ),
                    usual_latency_ratio()
                )
            )
        from timed
    )
select
    * exclude (l2_peak, l1_peak, launch_ns) replace (
        possible_ratio(bounded.roof_ratio, 1) as roof_ratio
    ),
    case
        when bound_kind is not null
        then roof_reason(bounded.roof_ratio, nearest_name, dur_ns)
        when total_reason is not null
        then total_reason
        when compute_ns is null and device_name is null
        then 'device unknown'
        when compute_ns is null
        then 'no peak for this device'
        when dram_reason is not null
        then 'dram: ' || dram_reason
        when dram_ns is null and device_name is null
        then 'device unknown'
        when dram_ns is null
        then 'no bandwidth for this device'
        when dur_ns is null
        then 'duration: ' || dur_reason
        else 'duration of zero'
    end as bound_reason
from bounded
