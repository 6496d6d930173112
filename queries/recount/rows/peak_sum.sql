-- purpose = "Kernels, launches or the run on a device with known peaks: how near to the roof their
-- work and time are, and what bounds them."
-- upon = "launch_peak"
with
    summed as (
        select
            name,
            event_id,
            sum(ns) as total_ns,
            sum(launches) as launch_count,
            sum(top_flop) as own_flop,
            sum(top_peak * ns) as own_peak_ns,
            if(
                count(distinct top_name) filter (where top_flop > 0) > 1,
                'mixed',
                coalesce(min(top_name) filter (where top_flop > 0), 'fp32')
            ) as own_name,
            sum(fp32) as fp32_flop,
            sum(fp32_peak * ns) as fp32_peak_ns,
            sum(compute_ns) as work_ns,
            sum(dram_ns) as memory_ns,
            sum(l2_ns) as second_ns,
            sum(l1_ns) as first_ns,
            sum(overhead_ns) as overhead_ns,
            greatest(memory_ns, second_ns, first_ns) as longest_ns,
            greatest(work_ns, memory_ns, second_ns, first_ns) / total_ns as roof,
            sum(compute_busy * ns) / sum(if(compute_busy is null, null, ns)) as compute_share,
            sum(memory_busy * ns) / sum(if(memory_busy is null, null, ns)) as memory_share,
            -- the report divides by the time of launches whose work and peak are known: here by all
            -- time, where each launch has both
            bool_and(
                compute_ns + dram_ns + top_flop + top_peak is not null and coalesce(ns, 0) > 0
            ) as is_known,
            count(l2_ns) in (0, count(*)) and count(l1_ns) in (0, count(*)) as has_whole_levels
        from launch_peak
        group by name, event_id
    )
select
    *,
    fp32_flop / fp32_peak_ns * 1e9 as fp32_share,
    case
        when
            roof < coalesce($latency_below, 0.6)
            and greatest(compute_share, memory_share) >= coalesce($latency_below, 0.6)
        then if(compute_share >= coalesce(memory_share, 0), 'compute', 'memory') || ' throughput'
        when longest_ns <= work_ns * (1 + 1e-9)
        then 'compute'
        when longest_ns <= memory_ns * (1 + 1e-9)
        then 'dram'
        when second_ns >= coalesce(first_ns, 0)
        then 'l2'
        else 'l1'
    end as nearest_name,
    case
        when greatest(memory_ns, work_ns) < overhead_ns
        then 'overhead'
        when nearest_name = 'compute throughput'
        then 'compute'
        when nearest_name = 'memory throughput'
        then 'bandwidth'
        when roof < coalesce($latency_below, 0.6)
        then 'latency'
        when memory_ns > work_ns * (1 + 1e-9)
        then 'bandwidth'
        else 'compute'
    end as bound_kind
from summed
