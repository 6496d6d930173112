-- purpose = "Ceilings of a sweep's roofline: device peaks, with the work compared with each peak."
-- source = "ParaDnn (Wang Y. E. 2020), Table 3 and Fig. 3; the figures by their own sources"
-- needs = ["configuration"]
-- depends = ["configuration_work", "device_ceiling", "device_roof"]
-- parameters = "run_id-all rate intensity weight ceiling-configurations"
-- columns = "run_id device_name ceiling_kind ceiling_name-roof peak_flop_per_s-ceiling
-- peak_bytes_per_s-ceiling overhead_ns work_flop work_bytes origin_kind-known source_text
-- total_ns"
-- overhead_ns = "NULL: no launch is known"
-- total_ns = "time of the configurations on that device: one second each, or by the weight"
with
    worked as (
        select
            run_id,
            source_id,
            sum(known_flop) as work_flop,
            sum(known_bytes) as work_bytes,
            sum(known_ns) as total_ns
        from configuration_work($run_id, $rate, $intensity, $weight, $ceiling)
        group by run_id, source_id
    ),
    offered as (
        select
            worked.run_id,
            known.device_name,
            known.ceiling_kind,
            known.ceiling_name,
            known.value,
            known.origin_kind,
            known.source_text,
            worked.total_ns,
            case
                when known.ceiling_name = machine.ceiling_name
                then worked.work_flop
                when known.ceiling_name = 'dram'
                then worked.work_bytes
            end as work
        from worked
        join
            (from device_roof($run_id, $ceiling) where device_id is null) as machine
            on machine.run_id = worked.run_id
            and machine.source_id = worked.source_id
        join
            (
                from device_ceiling
                where
                    device_id is null
                    and ceiling_kind in ('compute', 'bandwidth')
                    and ($run_id is null or run_id = $run_id)
            ) as known
            on known.run_id = worked.run_id
            and known.source_id = worked.source_id
    )
select
    run_id,
    device_name,
    ceiling_kind,
    ceiling_name,
    case ceiling_kind when 'compute' then max(value) end as peak_flop_per_s,
    case ceiling_kind when 'bandwidth' then max(value) end as peak_bytes_per_s,
    cast(null as double) as overhead_ns,
    case ceiling_kind when 'compute' then sum(work) end as work_flop,
    case ceiling_kind when 'bandwidth' then sum(work) end as work_bytes,
    arg_max(origin_kind, value) as origin_kind,
    arg_max(source_text, value) as source_text,
    cast(sum(total_ns) as bigint) as total_ns
from offered
group by run_id, device_name, ceiling_kind, ceiling_name
order by run_id, device_name, ceiling_kind desc, max(value) desc, ceiling_name
