-- purpose = "Operators of a profiler's table that reports count: of the device if it has any, and
-- of compiled programs if there are any; without idle time."
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
from listed
where
    (select bool_and(self_ns is not null) from listed)
    -- of pages that tell the same operators, reports count one
    and (
        select count(distinct(format_name, metadata_json ->> '$.tool'))
        from source_file
        where run_id = $run_id and source_id in (select source_id from listed)
    )
    = 1
    and side_kind = if(has_device, 'device', 'host')
    and op_kind = if(has_hlo, 'hlo', 'framework')
