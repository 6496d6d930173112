-- purpose = "Peaks of devices: those that the user gives, else of the data sheet of the model that
-- the file names."
-- upon = "launch_work"
with
    given as (
        select source_id, device_id, ceiling_name, value, 1 as place
        from device
        join
            device_model
            on regexp_replace(lower(device.name), '[^a-z0-9]|^(nvidia|amd) ', '', 'g') = model_key
        join model_ceiling using (model_name)
        where run_id = $run_id and ceiling_kind <> 'launch_overhead'
        union all
        select device.source_id, device_id, assumption.name, value, 2
        from device
        join assumption using (run_id, source_id)
        where run_id = $run_id and assumption_kind in ('compute', 'bandwidth')
    )
select source_id, device_id, map_from_entries(list((ceiling_name, value))) as peaks
from
    (
        select source_id, device_id, ceiling_name, first(value order by place desc) as value
        from given
        group by all
    )
group by source_id, device_id
