-- purpose = "Kernels below the average use of the peak are those of the launches."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "low_utilization_kernels"
-- keys = ["name"]
-- options.by = ["name", "launch"]
-- options.ceiling = ["own", "fp32"]
-- needs = ["kernel_counter", "device"]
-- upon = "launch_peak"
-- is_partial = true
with
    held as (
        select
            * replace (
                if($ceiling = 'own', top_flop, fp32) as top_flop,
                if($ceiling = 'own', top_peak, fp32_peak) as top_peak,
                if($by = 'launch', event_id, null) as event_id
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
            sum(sum(top_flop)) over () / sum(sum(top_peak * ns)) over () * 1e9 as average_ratio,
            sum(ns) / sum(sum(ns)) over () as share_ratio
        from held
        group by name, event_id
    )
select
    name,
    total_ns,
    launch_count,
    total_flop,
    if(share <= 1.05, share, null) as utilization_ratio,
    average_ratio,
    share_ratio,
    if(share between 1e-300 and 1.05, 1 / share, null) as speedup_bound
from summed
where
    share < average_ratio * (1 - 1e-9)
    and (select count(*) from launch_work) = (select count(*) from launch_peak)
order by total_ns desc, name
limit 5
