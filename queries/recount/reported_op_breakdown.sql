-- purpose = "Operators have the time, the calls and the work of the profiler's rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_breakdown"
-- keys = ["source_id", "device_id", "program_name", "name"]
-- needs = ["op_stat"]
-- is_partial = true
with
    listed as (
        select
            *,
            bool_or(side_kind = 'device') over () as has_device,
            bool_or(op_kind = 'hlo') over (partition by side_kind) as has_hlo
        from op_stat
        where
            run_id = $run_id
            and not coalesce(upper(name) = 'IDLE' or upper(type_name) = 'IDLE', false)
    ),
    chosen as (
        from listed
        where
            side_kind = if(has_device, 'device', 'host')
            and op_kind = if(has_hlo, 'hlo', 'framework')
    )
select
    source_id,
    device_id,
    program_name,
    name,
    min(op_kind) as op_kind,
    min(category_name) as category_name,
    sum(self_ns) as self_ns,
    sum(dur_ns) as total_ns,
    sum(self_ns) / sum(sum(self_ns)) over (partition by source_id, device_id) as share_ratio,
    count(*) as op_count,
    sum(coalesce(occurrence_count, 1)) as occurrence_count
from chosen
where (select bool_and(self_ns is not null) from chosen)
group by source_id, device_id, program_name, name
-- smaller ones are not shown
qualify share_ratio > 0.01
