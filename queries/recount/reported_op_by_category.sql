-- purpose = "Operators by category have the time of the profiler's rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_by_category"
-- keys = ["source_id", "device_id", "category_name"]
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
    )
select
    source_id,
    device_id,
    coalesce(category_name, type_name) as category_name,
    sum(self_ns) as self_ns,
    sum(self_ns) / sum(sum(self_ns)) over (partition by source_id, device_id) as share_ratio,
    count(*) as op_count,
    sum(coalesce(occurrence_count, 1)) as occurrence_count
from listed
where
    (select bool_and(self_ns is not null) from listed)
    and side_kind = if(has_device, 'device', 'host')
    and op_kind = if(has_hlo, 'hlo', 'framework')
group by source_id, device_id, coalesce(category_name, type_name)
