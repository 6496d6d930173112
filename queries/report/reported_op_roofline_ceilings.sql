-- purpose = "Ceilings of an operator roofline: device peaks of a run, with the work compared with
-- each peak."
-- source = "Wang Y. E. 2020 (ParaDnn), Table 3 and Fig. 3; the figures by their own sources"
-- topic = "rooflines"
-- needs = ["op_stat"]
-- answered_if = "exists (from op_stat where run_id = $run_id and side_kind = 'device') and exists
-- (from offered_ceiling($run_id, null))"
-- depends = ["reported_op_figures", "ceiling_figures", "offered_ceiling"]
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
            total_flop as work_flop,
            total_bytes as work_bytes,
            self_ns as total_ns
        from reported_op_figures($run_id, null, 'device', 'run', 'device', $ceiling)
    ),
    offered as (
        select
            known.*,
            worked.total_ns,
            case when is_of_flop then work_flop when is_of_bytes then work_bytes end as work
        from worked
        join
            offered_ceiling($run_id, $ceiling) as known
            on known.run_id = worked.run_id
            and known.source_id = worked.source_id
            and known.device_id is not distinct from worked.device_id
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
