-- purpose = "Ceilings of a sweep's roofline: device peaks, with the work compared with each peak."
-- source = "ParaDnn (Wang Y. E. 2020), Table 3 and Fig. 3; the figures by their own sources"
-- needs = ["configuration"]
-- depends = ["configuration_work", "device_ceiling", "device_roof"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all runs", optional = true}
-- rate = {type = "VARCHAR", doc = "metric with the rate, as in configuration_roofline_points",
-- optional = true}
-- intensity = {type = "VARCHAR", doc = "metric with the intensity or the traffic, as in
-- configuration_roofline_points", optional = true}
-- weight = {type = "VARCHAR", doc = "metric with the time, as in configuration_roofline_points",
-- optional = true}
-- ceiling = {type = "VARCHAR", doc = "compute peak: tensor_bf16, fp32 …; default: that of 16-bit
-- matrix operations, else fp32", optional = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- device_name = {type = "VARCHAR", doc = "device; NULL if unknown"}
-- ceiling_kind = {type = "VARCHAR", doc = "compute or bandwidth"}
-- ceiling_name = {type = "VARCHAR", doc = "e.g. tensor_bf16, dram"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "of compute: operations"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "of bandwidth: traffic"}
-- overhead_ns = {type = "DOUBLE", doc = "NULL: no launch is known"}
-- work_flop = {type = "DOUBLE", doc = "for compute: operations of all configurations, if compared
-- with this peak"}
-- work_bytes = {type = "DOUBLE", doc = "for bandwidth: bytes of all configurations"}
-- origin_kind = {type = "VARCHAR", doc = "user, datasheet, computed or measured"}
-- source_text = {type = "VARCHAR", doc = "source of the peak"}
-- total_ns = {type = "BIGINT", doc = "time of the configurations on that device: one second each,
-- or by the weight"}
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
