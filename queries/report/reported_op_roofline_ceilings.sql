-- purpose = "Ceilings of an operator roofline: device peaks of a run, with the work held to
-- each peak."
-- source = "Wang Y. E. 2020 (ParaDnn), Table 3 and Fig. 3; the figures by their own sources"
-- topic = "rooflines"
-- needs = ["op_stat"]
-- answered_if = "exists (from op_stat where run_id = $run_id and side_kind = 'device') and exists
-- (from device_ceiling where run_id = $run_id and ceiling_kind in ('compute', 'bandwidth'))"
-- depends = ["reported_op_figures", "ceiling_figures", "device_ceiling"]
-- parameters = "run_id-all ceiling"
-- columns = "run_id device_name ceiling_kind ceiling_name-roof peak_flop_per_s-ceiling
-- peak_bytes_per_s-ceiling overhead_ns work_flop work_bytes origin_kind source_text
-- total_ns-group"
-- overhead_ns = "NULL: the program launches its operators"
with
    ops as materialized(
        select run_id, source_id, device_id, ceiling_name, total_flop, total_bytes, self_ns
        from reported_op_figures($run_id, null, 'device', 'op', 'device', $ceiling)
    ),
    works as (
        select run_id, source_id, device_id, ceiling_name, sum(total_flop) as work_flop
        from ops
        group by run_id, source_id, device_id, ceiling_name
    ),
    devices as (
        select
            run_id, source_id, device_id, sum(total_bytes) as work_bytes, sum(self_ns) as total_ns
        from ops
        group by run_id, source_id, device_id
    ),
    offered as (
        select
            known.*,
            devices.total_ns,
            case
                when known.ceiling_kind = 'compute'
                then works.work_flop
                when known.ceiling_name = 'dram'
                then devices.work_bytes
            end as work
        from devices
        join
            (
                from device_ceiling
                where
                    ceiling_kind in ('compute', 'bandwidth')
                    and ($run_id is null or run_id = $run_id)
            ) as known
            on known.run_id = devices.run_id
            and known.source_id = devices.source_id
            and known.device_id is not distinct from devices.device_id
        left join
            works
            on works.run_id = devices.run_id
            and works.source_id = devices.source_id
            and works.device_id is not distinct from devices.device_id
            and works.ceiling_name = known.ceiling_name
    )
select
    run_id,
    device_name,
    ceiling_kind,
    ceiling_name,
    unnest(ceiling_figures(ceiling_kind, value, work, origin_kind, source_text, total_ns))
from offered
group by run_id, device_name, ceiling_kind, ceiling_name
order by run_id, device_name, ceiling_kind desc, max(value) desc, ceiling_name
