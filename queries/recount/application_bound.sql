-- purpose = "A run on a known device is as far from its peaks as its launches together."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "application_summary"
-- needs = ["device"]
-- upon = "launch_peak"
with
    summed as (
        select
            sum(ns) as all_ns,
            sum(compute_ns) as work_ns,
            sum(dram_ns) as memory_ns,
            greatest(work_ns, memory_ns, sum(l2_ns), sum(l1_ns)) / all_ns as roof_ratio,
            sum(fp32) / sum(fp32_peak * ns) * 1e9 as fp32_utilization_ratio,
            sum(compute_busy * ns) / sum(if(compute_busy is null, null, ns)) as compute_share,
            sum(memory_busy * ns) / sum(if(memory_busy is null, null, ns)) as memory_share
        from launch_peak
        having
            bool_and(compute_ns + dram_ns + fp32_peak is not null and coalesce(ns, 0) > 0)
            and count(l2_ns) in (0, count(*))
            and count(l1_ns) in (0, count(*))
            and count(*) = (select count(*) from launch_work)
    )
select
    fp32_utilization_ratio,
    roof_ratio,
    case
        when roof_ratio < 0.6 and greatest(compute_share, memory_share) >= 0.6
        then if(compute_share >= coalesce(memory_share, 0), 'compute', 'bandwidth')
        when roof_ratio < 0.6
        then 'latency'
        when memory_ns > work_ns
        then 'bandwidth'
        else 'compute'
    end as bound_kind,
    null as reason,
    null as missing_metrics,
    'arithmetic' as fp16_convention
from summed
where roof_ratio <= 1.05 and fp32_utilization_ratio <= 1.05
