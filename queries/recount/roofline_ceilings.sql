-- purpose = "Work under each ceiling is that of the launches, and the peaks those of the user or
-- the data sheet."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "roofline_ceilings"
-- keys = ["device_name", "ceiling_kind", "ceiling_name"]
-- upon = "launch_work"
-- skips_unknown = true
-- is_partial = true
with
    devices as (
        select source_id, device_id, device.name as device_name
        from device
        where run_id = $run_id and device.name is not null
    ),
    ceilings as (
        select device_name, ceiling_kind, ceiling_name, value, origin_kind, source_text
        from
            (
                select devices.*, model_ceiling.* exclude (model_name), 1 as place
                from devices
                join model_ceiling on model_name = device_name
                union all by name
                select
                    devices.*,
                    assumption_kind as ceiling_kind,
                    assumption.name as ceiling_name,
                    value,
                    'user' as origin_kind,
                    source_text,
                    2 as place
                from devices
                join (from assumption where run_id = $run_id) as assumption using (source_id)
                where assumption_kind in ('compute', 'bandwidth', 'launch_overhead')
            )
        qualify
            place = max(place) over (partition by source_id, device_id, ceiling_kind, ceiling_name)
    ),
    works as (
        select
            device_name,
            sum(ns) as total_ns,
            map{
                'fp64':sum(fp64),
                'fp32':sum(fp32),
                'fp16':sum(fp16_work),
                'tensor_fp64':sum(tensor_fp64),
                'tensor_tf32':sum(tensor_tf32),
                'tensor_bf16':sum(tensor_bf16),
                'tensor_fp8':sum(tensor_fp8),
                'dram':sum(dram),
                'l2':sum(l2),
                'l1':sum(l1)
            } as work_of
        from launch_work
        join devices using (source_id, device_id)
        group by device_name
    )
select
    device_name,
    ceiling_kind,
    ceiling_name,
    if(ceiling_kind = 'compute', value, null) as peak_flop_per_s,
    if(ceiling_kind = 'bandwidth', value, null) as peak_bytes_per_s,
    if(ceiling_kind = 'launch_overhead', value, null) as overhead_ns,
    if(ceiling_kind = 'compute', work_of[ceiling_name], null) as work_flop,
    if(ceiling_kind = 'bandwidth', work_of[ceiling_name], null) as work_bytes,
    total_ns,
    origin_kind,
    source_text,
    $run_id as run_id
from works
join (select distinct * from ceilings) as ceilings using (device_name)
where
    -- a device that the user names has peaks of its own
    not exists (from assumption where run_id = $run_id and assumption_kind = 'device')
    -- all launches are of these devices
    and not exists (
        from kernel_counter
        left join devices using (source_id, device_id)
        where run_id = $run_id and devices.device_name is null
    )
