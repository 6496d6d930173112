-- purpose = "Peaks of devices are those that the user gave, the data sheet, or the profiler, with
-- the ridge points that follow."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "device_ceilings"
-- keys = ["source_id", "device_id", "ceiling_name"]
-- needs = ["device"]
-- is_partial = true
with
    devices as (
        select source_id, device_id, device.name as device_name, model_name
        from device
        left join (select distinct model_name from model_ceiling) on model_name = device.name
        where
            run_id = $run_id
            -- by name, or no device that is known
            and (
                model_name is not null
                or device.sm_count is null
                and device.name is not null
                and not exists (
                    from device_model
                    where contains(regexp_replace(lower(device.name), '\W', '', 'g'), model_key)
                )
            )
            -- what is said of one device
            and source_id not in (
                select source_id
                from assumption
                where run_id = $run_id and assumption_kind = 'device'
            )
            -- did something
            and (source_id, device_id) in (
                select (source_id, device_id)
                from kernel
                where run_id = $run_id
                union
                select (source_id, device_id)
                from device
                where
                    run_id = $run_id
                    and source_id not in (
                        select source_id
                        from kernel
                        where run_id = $run_id
                        union
                        select source_id
                        from transfer
                        where run_id = $run_id
                        union
                        select source_id
                        from op_stat
                        where run_id = $run_id
                    )
            )
    ),
    peaks as (
        select
            source_id,
            device_id,
            0 as place,
            assumption_kind as kind,
            name as ceiling_name,
            value,
            'user' as origin_kind
        from devices
        join (from assumption where run_id = $run_id) as assumption using (source_id)
        where assumption_kind in ('compute', 'bandwidth', 'launch_overhead')
        union all
        select source_id, device_id, 1, ceiling_kind, ceiling_name, value, origin_kind
        from devices
        join model_ceiling using (model_name)
        union all
        select source_id, device_id, 2, 'compute', 'reported', reported_flop_per_s, 'reported'
        from device
        where run_id = $run_id and reported_flop_per_s > 0
        union all
        select source_id, device_id, 2, 'bandwidth', 'dram', reported_bytes_per_s, 'reported'
        from device
        where run_id = $run_id and reported_bytes_per_s > 0
    ),
    best as (
        select
            source_id,
            device_id,
            kind,
            ceiling_name,
            arg_min(value, place) as value,
            arg_min(origin_kind, place) as origin_kind
        from peaks
        where
            place < 2
            or (source_id, device_id, kind)
            not in (select (source_id, device_id, kind) from peaks where place < 2)
        group by source_id, device_id, kind, ceiling_name
    ),
    others as (
        select
            source_id,
            device_id,
            max(value) filter (where ceiling_name = 'dram') as dram_bytes_per_s,
            max(value) filter (where kind = 'launch_overhead') as launch_ns
        from best
        group by source_id, device_id
    )
select
    source_id,
    device_id,
    ceiling_name,
    device_name,
    origin_kind,
    if(kind = 'compute', value, null) as peak_flop_per_s,
    if(kind = 'bandwidth', value, null) as peak_bytes_per_s,
    if(kind = 'launch_overhead', value, null) as overhead_ns,
    if(kind = 'compute', value / dram_bytes_per_s, null) as ridge_flop_per_byte,
    if(kind = 'compute', value * launch_ns * 1e-9, null) as least_flop
from best
join devices using (source_id, device_id)
join others using (source_id, device_id)
