-- purpose = "Launches with known operations and bytes, on devices whose peaks the data sheet or the
-- user gives: their share of the roof, and what bounds them."
-- upon = "known_peak"
with
    timed as (
        select
            launch_work.*,
            1e9 * (
                fp64 / peaks['fp64']
                + fp32 / peaks['fp32']
                + if(fp16_work = 0, 0, fp16_work / peaks['fp16'])
                + case
                    when tensor = 0
                    then 0
                    when compute_capability = '7.0'
                    then tensor / peaks['tensor_fp16']
                    else
                        coalesce(tensor_fp64 / peaks['tensor_fp64'], 0)
                        + tensor_tf32 / peaks['tensor_tf32']
                        + tensor_bf16 / peaks['tensor_bf16']
                        + tensor_fp16 / peaks['tensor_fp16']
                        + coalesce(tensor_fp8 / peaks['tensor_fp8'], 0)
                end
                + if(coalesce(tensor_int, 0) = 0, 0, tensor_int / peaks['tensor_int8'])
            ) as compute_ns,
            1e9 * dram / peaks['dram'] as dram_ns,
            1e9 * l2 / peaks['l2'] as l2_ns,
            1e9 * l1 / peaks['l1'] as l1_ns,
            -- of counters alone; steps are the window of a timeline
            if(
                exists (from attribution where run_id = $run_id),
                null,
                sum(ns) over (partition by source_id)
            ) as elapsed_ns
        from launch_work
        join known_peak using (source_id, device_id)
        left join
            (
                select distinct source_id, device_id, compute_capability
                from device
                where run_id = $run_id
            ) as capable using (source_id, device_id)
        where ns > 0
    )
select
    timed.*,
    greatest(compute_ns, dram_ns, l2_ns, l1_ns) / ns as roof,
    greatest(compute_busy, memory_busy) as busy,
    case
        when roof > 1.05
        then null
        when roof < 0.6 and busy >= 0.6
        then if(compute_busy >= coalesce(memory_busy, 0), 'compute', 'bandwidth')
        when roof < 0.6
        then 'latency'
        when greatest(dram_ns, l2_ns, l1_ns) > compute_ns
        then 'bandwidth'
        else 'compute'
    end as bound_kind,
    if(roof < 0.6 and busy >= 0.6, busy, roof) as near_roof
from timed
where compute_ns is not null and dram_ns is not null
