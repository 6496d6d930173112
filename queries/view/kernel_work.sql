-- purpose = "Work and traffic of each launch with counters: of a counter run as it ran under
-- them, of a joined timeline as it ran by itself."
-- source = "docs/metrics.md, sections Work, Counters joined to a timeline"
-- needs = ["kernel_counter"]
-- depends = ["counted_work", "joined_kernel"]
-- empty_without = ["kernel_counter", "match_counter", "kernel_match"]
-- columns = "run_id source_id event_id name launch_count-row launch_index device_id device_name
-- compute_capability provenance_kind-measured dur_ns dur_reason fp64_flop fp64_reason fp32_flop
-- fp32_reason fp16_packed_flop fp16_scalar_flop fp16_arithmetic_flop fp16_kind fp16_reason
-- tensor_fp64_flop tensor_tf32_flop tensor_bf16_flop tensor_fp16_flop tensor_fp8_flop
-- tensor_fp4_flop tensor_mixed_flop tensor_int_flop tensor_flop tensor_reason known_flop-counted
-- total_arithmetic_flop total_packed_flop total_scalar_flop total_reason missing_metrics
-- dram_bytes dram_basis dram_reason l2_paper_bytes l2_vendor_bytes l2_reason l1_paper_bytes
-- l1_vendor_bytes l1_reason own_fp64_flop_per_s own_fp32_flop_per_s own_fp16_flop_per_s
-- own_tensor_fp64_flop_per_s own_tensor_tf32_flop_per_s own_tensor_bf16_flop_per_s
-- own_tensor_fp16_flop_per_s own_tensor_fp8_flop_per_s own_tensor_fp4_flop_per_s
-- own_tensor_int8_flop_per_s own_dram_bytes_per_s own_l2_paper_bytes_per_s
-- own_l2_vendor_bytes_per_s own_l1_paper_bytes_per_s own_l1_vendor_bytes_per_s occupancy_ratio
-- compute_throughput_ratio memory_throughput_ratio dram_throughput_ratio"
-- dur_ns = "duration: in the timeline, else as counted or cycles / clock"
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
