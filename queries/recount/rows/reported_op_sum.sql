-- purpose = "Operators of a profiler's table on a device whose peaks the user gave, by category:
-- their time and how near it is to the roof."
-- upon = "known_peak"
with
    plain as (
        select
            op_stat.*,
            1e9 * flop_count * coalesce(occurrence_count, 1) / peaks['fp32'] as compute_ns,
            1e9 * dram_bytes * coalesce(occurrence_count, 1) / peaks['dram'] as dram_ns
        from op_stat
        join known_peak using (source_id, device_id)
        where
            run_id = $run_id
            and side_kind = 'device'
            and upper(name) <> 'IDLE'
            -- the user gives the peaks of the only kind of table
            and exists (from assumption where run_id = $run_id and name = 'dram')
            and not exists (from assumption where run_id = $run_id and name like 'tensor%')
            and (select count(distinct op_kind) = 1 from op_stat where run_id = $run_id)
    )
select
    source_id,
    device_id,
    category_name as name,
    sum(self_ns) as total_ns,
    greatest(sum(compute_ns), sum(dram_ns)) / sum(self_ns) as roof_ratio,
    case
        when roof_ratio < 0.6
        then 'latency'
        when sum(dram_ns) > sum(compute_ns)
        then 'bandwidth'
        else 'compute'
    end as bound_kind,
    sum(sum(self_ns)) over (partition by source_id, device_id) as elapsed_ns,
    bool_and(compute_ns is not null and dram_ns is not null and self_ns > 0) as is_known
from plain
group by source_id, device_id, category_name
