-- purpose = "Kernels below the average use of the peak are those of the launches."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "low_utilization_kernels"
-- keys = ["name"]
-- options.by = ["name"]
-- options.ceiling = ["own", "fp32"]
-- options.fp16_convention = ["arithmetic", "packed", "scalar"]
-- options.latency_below = []
-- needs = ["device"]
-- upon = "peak_sum"
-- is_partial = true
with
    held as (
        select
            *,
            if($ceiling = 'own', own_flop, fp32_flop) as total_flop,
            if($ceiling = 'own', own_peak_ns, fp32_peak_ns) as peak_ns,
            total_flop / peak_ns * 1e9 as share,
            sum(total_flop) over () / sum(peak_ns) over () * 1e9 as average_ratio,
            sum(total_ns) over () as all_ns
        from peak_sum
    )
select
    name,
    total_ns,
    launch_count,
    total_flop,
    if(share <= 1.05, share, null) as utilization_ratio,
    average_ratio,
    total_ns / all_ns as share_ratio,
    if(share between 1e-300 and 1.05, 1 / share, null) as speedup_bound,
    peak_ns / total_ns as peak_flop_per_s,
    if($ceiling = 'own', own_name, 'fp32') as ceiling_name,
    if(roof <= 1.05, roof, null) as roof_ratio,
    bound_kind,
    1.0 as known_time_ratio,
    null as reason,
    $fp16_convention as fp16_convention
from held
where
    share < average_ratio * (1 - 1e-9)
    and (select bool_and(is_known) from held)
    and (select count(*) from launch_work) = (select count(*) from launch_peak)
order by total_ns desc, name
limit 5
