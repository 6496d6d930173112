-- purpose = "Longest kernels with utilization below the average."
-- source = "Zhu 2018 (TBD), Tables V and VI, eq. 2"
-- topic = "kernels"
-- needs = ["kernel_counter"]
-- depends = ["kernel_group"]
-- parameters = "run_id-all by label ceiling-launches fp16_convention latency_below top"
-- top = {default = 5}
-- columns = "share_ratio-kernels utilization_ratio name-group bound_kind-launches roof_ratio
-- total_ns speedup_bound ceiling_name-mixed launch_count total_flop average_ratio
-- known_time_ratio peak_flop_per_s-mean peak_source fp16_convention"
-- answer = "share_ratio utilization_ratio total_ns"
-- roof_ratio = "time at peak / time for the nearest roof, including memory"
-- speedup_bound = "DOUBLE: 1 / utilization: maximum speedup if bound only by that peak"
-- total_flop = "operations of that ceiling's kind"
-- average_ratio = "utilization over all kernels; rows are below it"
select
    share_ratio,
    utilization_ratio,
    group_name as name,
    bound_kind,
    roof_ratio,
    total_ns,
    ratio(1, utilization_ratio) as speedup_bound,
    ceiling_name,
    launch_count,
    work_flop as total_flop,
    average_ratio,
    known_time_ratio,
    peak_flop_per_s,
    peak_source,
    cast($fp16_convention as varchar) as fp16_convention
from kernel_group($run_id, $by, $label, $fp16_convention, $ceiling, 'dram', null, $latency_below)
where is_below_average
order by total_ns desc, name, owner_id, launch_event
limit $top
