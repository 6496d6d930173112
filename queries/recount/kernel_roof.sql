-- purpose = "Kernels on a known device are as far from its peaks as their work and time say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "kernel_figures"
-- keys = ["name", "event_id"]
-- options.by = ["name", "launch", "run"]
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
                if($ceiling = 'own', top_name, 'fp32') as top_name,
                if($by = 'run', (select run_name from run where run_id = $run_id), name) as name,
                if($by = 'launch', event_id, null) as event_id
            )
        from launch_peak
    ),
    kernel_sum as (
        select
            name,
            event_id,
            sum(top_flop) / sum(top_peak * ns) * 1e9 as top_share,
            sum(fp32) / sum(fp32_peak * ns) * 1e9 as fp32_utilization_ratio,
            sum(top_peak * ns) / sum(ns) as peak_flop_per_s,
            if(
                count(distinct top_name) filter (where top_flop > 0) > 1,
                'mixed',
                coalesce(min(top_name) filter (where top_flop > 0), 'fp32')
            ) as ceiling_name,
            sum(compute_ns) as work_ns,
            sum(dram_ns) as memory_ns,
            sum(l2_ns) as second_ns,
            sum(l1_ns) as first_ns,
            greatest(work_ns, memory_ns, second_ns, first_ns) / sum(ns) as roof,
            sum(compute_busy * ns) / sum(ns) as compute_share,
            sum(memory_busy * ns) / sum(ns) as memory_share
        from held
        group by name, event_id
        -- the report divides by the time of launches whose work and peak are known: here by all
        -- time, of kernels of which each launch has both
        having
            bool_and(compute_ns + dram_ns + top_flop + top_peak is not null and coalesce(ns, 0) > 0)
    )
select
    name,
    event_id,
    if(top_share <= 1.05, top_share, null) as utilization_ratio,
    if(fp32_utilization_ratio <= 1.05, fp32_utilization_ratio, null) as fp32_utilization_ratio,
    peak_flop_per_s,
    ceiling_name,
    if(roof <= 1.05, roof, null) as roof_ratio,
    case
        when roof < 0.6 and greatest(compute_share, memory_share) >= 0.6
        then if(compute_share >= coalesce(memory_share, 0), 'compute', 'bandwidth')
        when roof < 0.6
        then 'latency'
        when memory_ns > work_ns
        then 'bandwidth'
        else 'compute'
    end as bound_kind,
    case
        when roof < 0.6 and greatest(compute_share, memory_share) >= 0.6
        then if(compute_share >= coalesce(memory_share, 0), 'compute', 'memory') || ' throughput'
        when greatest(memory_ns, second_ns, first_ns) < work_ns
        then 'compute'
        when greatest(second_ns, first_ns, 0) < memory_ns
        then 'dram'
        when second_ns >= coalesce(first_ns, 0)
        then 'l2'
        else 'l1'
    end as nearest_name
from kernel_sum
