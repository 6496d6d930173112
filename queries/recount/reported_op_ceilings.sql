-- purpose = "Operators of a profiler's table are held to the data sheet of their device."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "reported_op_roofline_ceilings"
-- keys = ["device_name", "ceiling_kind", "ceiling_name"]
-- needs = ["op_stat", "device"]
-- upon = "listed_op"
-- is_partial = true
select
    $run_id as run_id,
    device.name as device_name,
    ceiling_kind,
    ceiling_name,
    if(ceiling_kind = 'compute', any_value(model_ceiling.value), null) as peak_flop_per_s,
    if(ceiling_kind = 'bandwidth', any_value(model_ceiling.value), null) as peak_bytes_per_s,
    any_value(origin_kind) as origin_kind,
    sum(self_ns) as total_ns
from listed_op
join (from device where run_id = $run_id) as device using (source_id, device_id)
join
    device_model
    on regexp_replace(lower(device.name), '[^a-z0-9]|^(nvidia|amd) ', '', 'g') = model_key
join model_ceiling using (model_name)
where
    side_kind = 'device'
    and ceiling_kind <> 'launch_overhead'
    and not exists (from assumption where run_id = $run_id)
group by device.name, ceiling_kind, ceiling_name
