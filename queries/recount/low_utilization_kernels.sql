-- purpose = "Kernels below the average use of the peak are those of the launches."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "low_utilization_kernels"
-- keys = ["name"]
-- options.ceiling = ["own", "fp32"]
-- needs = ["device"]
-- upon = "launch_peak"
-- is_partial = true
with
    held as (
        select
            * replace (
                if($ceiling = 'own', top_flop, fp32) as top_flop,
                if($ceiling = 'own', top_peak, fp32_peak) as top_peak,
                if($ceiling = 'own', top_name, 'fp32') as top_name
            )
        from launch_peak
    ),
    summed as (
        select
            name,
            sum(ns) as total_ns,
            sum(launches) as launch_count,
            sum(top_flop) as total_flop,
            sum(top_flop) / sum(top_peak * ns) * 1e9 as share,
            sum(top_peak * ns) / sum(ns) as peak_flop_per_s,
            if(count(distinct top_name) > 1, 'mixed', min(top_name)) as ceiling_name,
            greatest(sum(compute_ns), sum(dram_ns), sum(l2_ns), sum(l1_ns)) / sum(ns) as roof,
            sum(compute_busy * ns) / sum(ns) as compute_share,
            sum(memory_busy * ns) / sum(ns) as memory_share,
            sum(dram_ns) > sum(compute_ns) as is_moving,
            bool_and(compute_ns + dram_ns + top_peak is not null) as is_known,
            sum(sum(top_flop)) over () / sum(sum(top_peak * ns)) over () * 1e9 as average_ratio,
            sum(ns) / sum(sum(ns)) over () as share_ratio
        from held
        group by name
    )
select
    name,
    total_ns,
    launch_count,
    total_flop,
    if(share <= 1.05, share, null) as utilization_ratio,
    average_ratio,
    share_ratio,
    if(share between 1e-300 and 1.05, 1 / share, null) as speedup_bound,
    peak_flop_per_s,
    ceiling_name,
    if(roof <= 1.05, roof, null) as roof_ratio,
    case
        when roof < 0.6 and greatest(compute_share, memory_share) >= 0.6
        then if(compute_share >= coalesce(memory_share, 0), 'compute', 'bandwidth')
        when roof < 0.6
        then 'latency'
        when is_moving
        then 'bandwidth'
        else 'compute'
    end as bound_kind,
    1.0 as known_time_ratio,
    null as reason,
    'arithmetic' as fp16_convention
from summed
where
    share < average_ratio * (1 - 1e-9)
    and (select bool_and(is_known) from summed)
    and (select count(*) from launch_work) = (select count(*) from launch_peak)
order by total_ns desc, name
limit 5
