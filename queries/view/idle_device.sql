-- purpose = "Devices that a source lists and that did nothing, while others of its list worked:
-- they are not devices of the run."
-- source = "tables device, kernel, transfer and op_stat"
-- needs = ["device"]
-- depends = ["device_listed"]
-- columns = "run_id source_id device_id"
with
    worked as (
        select run_id, source_id, device_id
        from kernel
        union
        select run_id, source_id, device_id
        from transfer
        union
        select run_id, source_id, device_id
        from op_stat
        where side_kind = 'device'
    )
select listed.run_id, listed.source_id, listed.device_id
from device_listed as listed
left join worked using (run_id, source_id, device_id)
qualify
    worked.device_id is null
    and listed.device_id is not null
    and count(worked.device_id) over (partition by listed.run_id, listed.source_id) > 0
