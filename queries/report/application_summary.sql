-- purpose = "An application in a row: how much of the device it uses, what of, what bounds it,
-- and how much of that is known."
-- source = "Zhu 2018 (TBD), eq. 2; Wang Y. 2020 (Time-Based Roofline), sect. II to IV"
-- needs = ["kernel_counter"]
-- depends = ["kernel_group"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a row stands for: name (a kernel), launch, run or label (a
-- value of one)", default = "run", choices = ["name", "launch", "run", "label"]}
-- label = {type = "VARCHAR", doc = "with by=label: which label, e.g. batch", optional = true}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic: FP16 instructions that are work, not
-- moves or conversions, each two operations; packed: all of them (the vendor); scalar: all, each
-- one operation (Wang Y. 2020)", default = "arithmetic", choices = ["arithmetic", "packed",
-- "scalar"]}
-- latency_below = {type = "DOUBLE", doc = "below this share of every roof it is latency that
-- bounds", default = 0.6}
-- launch_overhead_ns = {type = "DOUBLE", doc = "time of one launch; if not given, that of the
-- device", optional = true}
-- [columns]
-- name = {type = "VARCHAR", doc = "run, kernel or value of the label"}
-- launch_count = {type = "BIGINT", doc = "launches"}
-- kernel_count = {type = "BIGINT", doc = "kernels of different names"}
-- total_ns = {type = "BIGINT", doc = "sum of the durations"}
-- fp32_utilization_ratio = {type = "DOUBLE", doc = "FP32 operations / (FP32 peak x time), of the
-- launches where both are known"}
-- intensity_flop_per_byte = {type = "DOUBLE", doc = "all operations / bytes of device memory, of
-- the launches where both are known"}
-- achieved_flop_per_s = {type = "DOUBLE", doc = "all operations / time, of the launches where
-- they are known"}
-- achieved_bytes_per_s = {type = "DOUBLE", doc = "bytes of device memory / time, of the launches
-- where they are known"}
-- bound_kind = {type = "VARCHAR", doc = "overhead, latency (far from every roof), bandwidth or
-- compute; NULL where a time is not known"}
-- roof_ratio = {type = "DOUBLE", doc = "the longest time at peak / time; NULL unless every
-- duration is known"}
-- nearest_name = {type = "VARCHAR", doc = "the resource whose time at peak is longest: compute,
-- dram, l2 or l1; where that is far, memory throughput or compute throughput if the report itself
-- says that it is busy"}
-- tensor_share_ratio = {type = "DOUBLE", doc = "tensor operations / all operations"}
-- zero_ai_launch_ratio = {type = "DOUBLE", doc = "share of launches measured to do no
-- floating-point operation; 0 only where every launch was counted"}
-- zero_ai_time_ratio = {type = "DOUBLE", doc = "share of the time of those"}
-- unknown_time_ratio = {type = "DOUBLE", doc = "share of the time of launches whose operations
-- are not all known"}
-- overhead_time_ratio = {type = "DOUBLE", doc = "launches x time of one / time; NULL unless every
-- duration is known"}
-- total_flop = {type = "DOUBLE", doc = "all operations that are known"}
-- other_flop = {type = "DOUBLE", doc = "what the other convention gives: packed beside
-- arithmetic, arithmetic beside packed and scalar"}
-- total_bytes = {type = "DOUBLE", doc = "bytes of device memory that are known"}
-- occupancy_ratio = {type = "DOUBLE", doc = "achieved occupancy, mean over the time"}
-- compute_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: compute,
-- mean over the time"}
-- memory_throughput_ratio = {type = "DOUBLE", doc = "the vendor's own share of peak: memory, mean
-- over the time"}
-- reason = {type = "VARCHAR", doc = "what is missing to say what bounds it; of the longest launch"}
-- missing_metrics = {type = "VARCHAR", doc = "where operations are not all known: what the
-- profiler's --metrics has to name beside"}
-- fp16_convention = {type = "VARCHAR", doc = "arithmetic, packed or scalar"}
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
        $run_id, $by, $label, $fp16_convention, 'own', 'dram', $launch_overhead_ns, $latency_below
    )
order by
    group_number,
    case when $by <> 'label' then total_ns end desc nulls last,
    name,
    owner_id,
    launch_event
