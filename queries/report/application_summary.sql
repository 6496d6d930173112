-- purpose = "One row per application: utilization, kinds of work, what bounds it, and how much of
-- that is known."
-- source = "Zhu 2018 (TBD), eq. 2; Wang Y. 2020 (Time-Based Roofline), sect. II to IV"
-- topic = "kernels"
-- needs = ["kernel_counter"]
-- depends = ["kernel_group"]
-- parameters = "run_id-all phase-counted by label fp16_convention latency_below launch_overhead_ns"
-- by = {default = "run"}
-- columns = "name-group launch_count kernel_count-names total_ns fp32_utilization_ratio
-- intensity_flop_per_byte achieved_flop_per_s achieved_bytes_per_s bound_kind-launches roof_ratio
-- nearest_name-launches tensor_share_ratio zero_ai_launch_ratio zero_ai_time_ratio
-- unknown_time_ratio overhead_time_ratio total_flop other_flop total_bytes occupancy_ratio-mean
-- compute_throughput_ratio-mean memory_throughput_ratio-mean reason missing_metrics-launches
-- fp16_convention"
-- answer = "total_ns fp32_utilization_ratio intensity_flop_per_byte bound_kind"
-- intensity_flop_per_byte = "all operations / bytes of device memory, over launches with both
-- known"
-- achieved_bytes_per_s = "bytes of device memory / time, over launches with known bytes"
-- roof_ratio = "longest time at peak / time; NULL unless every duration is known"
-- zero_ai_launch_ratio = "DOUBLE: share of launches measured without floating-point operations; 0
-- only if every launch was counted"
-- zero_ai_time_ratio = "DOUBLE: share of the time of those launches"
-- total_bytes = "known bytes of device memory"
-- reason = "what is missing to determine the bound or roof_ratio, for the longest launch"
select
    group_name as name,
    launch_count,
    kernel_count,
    total_ns,
    fp32_utilization_ratio,
    intensity_flop_per_byte,
    achieved_flop_per_s,
    achieved_bytes_per_s,
    bound_kind,
    roof_ratio,
    nearest_name,
    tensor_share_ratio,
    -- no launch that is measured to do nothing is none only where every launch was counted
    case
        when zero_launch_count > 0 then ratio(zero_launch_count, launch_count) when is_known then 0
    end as zero_ai_launch_ratio,
    case
        when zero_launch_count > 0
        then ratio(zero_ns, total_ns)
        when is_known
        then ratio(0, total_ns)
    end as zero_ai_time_ratio,
    unknown_time_ratio,
    overhead_time_ratio,
    total_flop,
    other_flop,
    total_bytes,
    occupancy_ratio,
    compute_throughput_ratio,
    memory_throughput_ratio,
    bound_reason as reason,
    missing_metrics,
    cast($fp16_convention as varchar) as fp16_convention
from
    kernel_group(
        $run_id,
        $phase,
        $by,
        $label,
        $fp16_convention,
        'own',
        'dram',
        $launch_overhead_ns,
        $latency_below
    )
order by
    group_number,
    case when $by <> 'label' then total_ns end desc nulls last,
    name,
    owner_id,
    launch_event
