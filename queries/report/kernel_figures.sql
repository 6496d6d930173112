-- purpose = "Kernels by time, with utilization, operational intensity, what bounds them and their
-- distance to the roof."
-- source = "Zhu 2018 (TBD), eq. 2; Wang Y. 2020 (Time-Based Roofline), eq. 1 and sect. II"
-- topic = "kernels"
-- needs = ["kernel_counter"]
-- depends = ["kernel_group"]
-- parameters = "run_id-all phase-counted by label fp16_convention ceiling-launches level
-- below_average
-- latency_below top"
-- level = {doc = "memory level of intensity", choices = ["dram", "l2", "l1"]}
-- below_average = {type = "BOOLEAN", doc = "only kernels whose utilization is below that of all
-- kernels together", default = false}
-- top = {doc = "number of rows; default: all", optional = true}
-- columns = "share_ratio-kernels utilization_ratio name-group bound_kind-launches roof_ratio
-- total_ns nearest_name-launches launch_count ceiling_name-mixed fp32_utilization_ratio
-- intensity_flop_per_byte-known mean_ns reason bound_reason-longest missing_metrics-launches
-- achieved_flop_per_s total_flop other_flop total_bytes-level occupancy_ratio-mean
-- compute_throughput_ratio-mean memory_throughput_ratio-mean average_ratio known_time_ratio
-- peak_flop_per_s-mean peak_source level_name fp16_convention launch_index-launch
-- event_id-launch"
-- answer = "share_ratio utilization_ratio bound_kind roof_ratio"
-- roof_ratio = "time at peak / time: 1 is at the roof; NULL above 1.05, or unless every duration
-- is known"
-- fp32_utilization_ratio = "FP32 operations / (FP32 peak x time), as in Zhu 2018"
-- reason = "why utilization is NULL, for the longest launch"
-- total_flop = "all known operations, FP16 by its convention"
select
    share_ratio,
    utilization_ratio,
    group_name as name,
    bound_kind,
    roof_ratio,
    total_ns,
    nearest_name,
    launch_count,
    ceiling_name,
    fp32_utilization_ratio,
    intensity_flop_per_byte,
    mean_ns,
    reason,
    bound_reason,
    missing_metrics,
    achieved_flop_per_s,
    total_flop,
    other_flop,
    total_bytes,
    occupancy_ratio,
    compute_throughput_ratio,
    memory_throughput_ratio,
    average_ratio,
    known_time_ratio,
    peak_flop_per_s,
    peak_source,
    cast($level as varchar) as level_name,
    cast($fp16_convention as varchar) as fp16_convention,
    launch_index,
    launch_event as event_id
from
    kernel_group(
        $run_id, $phase, $by, $label, $fp16_convention, $ceiling, $level, null, $latency_below
    )
where not $below_average or is_below_average
order by
    case when $by <> 'label' then total_ns end desc nulls last,
    group_number,
    name,
    owner_id,
    launch_event
limit $top
