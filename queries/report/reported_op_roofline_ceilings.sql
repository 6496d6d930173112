-- purpose = "Ceilings of an operator roofline: device peaks of a run, with the work compared with
-- each peak."
-- source = "Wang Y. E. 2020 (ParaDnn), Table 3 and Fig. 3; the figures by their own sources"
-- needs = ["op_stat"]
-- depends = ["reported_op_figures", "device_roof", "device_ceiling"]
-- parameters = "run_id-all ceiling"
-- columns = "run_id device_name ceiling_kind ceiling_name-roof peak_flop_per_s-ceiling
-- peak_bytes_per_s-ceiling overhead_ns work_flop work_bytes origin_kind source_text
-- total_ns-group"
-- overhead_ns = "NULL: the program launches its operators"
with
    worked as (
        select
            run_id,
            source_id,
            device_id,
            sum(total_flop) as work_flop,
            sum(total_bytes) as work_bytes,
            sum(self_ns) as total_ns
        from reported_op_figures($run_id, null, 'device', 'run', 'device', $ceiling)
        group by run_id, source_id, device_id
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
            device_roof($run_id, $ceiling) as machine
            on machine.run_id = worked.run_id
            and machine.source_id = worked.source_id
            and machine.device_id is not distinct from worked.device_id
        join
            (
                from device_ceiling
                where
                    ceiling_kind in ('compute', 'bandwidth')
                    and ($run_id is null or run_id = $run_id)
            ) as known
            on known.run_id = worked.run_id
            and known.source_id = worked.source_id
            and known.device_id is not distinct from worked.device_id
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
