-- purpose = "Ceilings of a timeline's operator roofline: device peaks, with the work under each
-- (joined counters, else modeled)."
-- source = "Williams 2009 (Roofline); the figures by their own sources; docs/metrics.md, section
-- Operators of a timeline"
-- topic = "rooflines"
-- needs = ["attribution"]
-- answered_if = "exists (from attribution where run_id = $run_id and op_name is not null) and
-- exists (from device_ceiling where run_id = $run_id and ceiling_kind in ('compute',
-- 'bandwidth'))"
-- depends = ["attributed_op_work", "device_ceiling"]
-- parameters = "run_id-all phase provenance"
-- columns = "run_id device_name ceiling_kind ceiling_name-roof peak_flop_per_s-ceiling
-- peak_bytes_per_s-ceiling overhead_ns work_flop work_bytes origin_kind source_text
-- total_ns-group"
-- overhead_ns = "NULL: a call can launch several kernels"
-- work_bytes = "for device memory: minimum bytes of all operators"
with
    work as materialized(
        select
            run_id,
            device_name,
            ceiling_name,
            sum(total_flop) filter (where is_known and not is_impossible) as work_flop,
            sum(total_bytes) filter (where is_known and not is_impossible) as work_bytes,
            sum(total_ns) as total_ns
        from attributed_op_work($run_id, $phase, $provenance)
        where basis = 'kernels' and name is not null
        group by run_id, device_name, ceiling_name
    ),
    devices as (
        select run_id, device_name, sum(work_bytes) as work_bytes, sum(total_ns) as total_ns
        from work
        group by run_id, device_name
    ),
    offered as (
        select
            run_id,
            device_name,
            ceiling_kind,
            ceiling_name,
            max(value) as value,
            arg_min(origin_kind, (- value, origin_kind, source_text)) as origin_kind,
            arg_min(source_text, (- value, origin_kind, source_text)) as source_text
        from device_ceiling
        where ceiling_kind in ('compute', 'bandwidth') and ($run_id is null or run_id = $run_id)
        group by run_id, device_name, ceiling_kind, ceiling_name
    )
select
    devices.run_id,
    devices.device_name,
    offered.ceiling_kind,
    offered.ceiling_name,
    case offered.ceiling_kind when 'compute' then value end as peak_flop_per_s,
    case offered.ceiling_kind when 'bandwidth' then value end as peak_bytes_per_s,
    cast(null as double) as overhead_ns,
    case offered.ceiling_kind when 'compute' then work.work_flop end as work_flop,
    case
        when offered.ceiling_kind = 'bandwidth' and offered.ceiling_name = 'dram'
        then devices.work_bytes
    end as work_bytes,
    origin_kind,
    source_text,
    cast(devices.total_ns as bigint) as total_ns
from devices
join
    offered
    on offered.run_id = devices.run_id
    and offered.device_name is not distinct from devices.device_name
left join
    work
    on work.run_id = devices.run_id
    and work.device_name is not distinct from devices.device_name
    and work.ceiling_name = offered.ceiling_name
order by
    devices.run_id, devices.device_name, offered.ceiling_kind desc, value desc, offered.ceiling_name
