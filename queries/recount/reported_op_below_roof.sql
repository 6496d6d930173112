-- purpose = "Operators below six tenths of the roof take longer than their work."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_below_roof"
-- keys = ["source_id", "device_id", "name"]
-- needs = ["op_stat", "device"]
-- upon = "known_peak"
-- is_partial = true
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
    ),
    summed as (
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
    )
select
    source_id,
    device_id,
    name,
    floor(total_ns * (1 - roof_ratio)) as win_ns,
    total_ns,
    total_ns / elapsed_ns as share_ratio,
    roof_ratio,
    bound_kind,
    elapsed_ns
from summed
where is_known and roof_ratio < 0.6
