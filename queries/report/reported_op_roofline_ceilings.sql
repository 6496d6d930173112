-- purpose = "Ceilings of an operator roofline: device peaks of a run, with the work compared with
-- each peak."
-- source = "Wang Y. E. 2020 (ParaDnn), Table 3 and Fig. 3; the figures by their own sources"
-- needs = ["op_stat"]
-- depends = ["reported_op_figures", "ceiling_figures", "offered_ceiling"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all runs", optional = true}
-- ceiling = {type = "VARCHAR", doc = "compute peak: tensor_bf16, fp32 …; default: that of 16-bit
-- matrix operations, else the profiler's own, else fp32", optional = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- device_name = {type = "VARCHAR", doc = "device; NULL if unknown"}
-- ceiling_kind = {type = "VARCHAR", doc = "compute or bandwidth"}
-- ceiling_name = {type = "VARCHAR", doc = "e.g. tensor_bf16, dram"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "of compute: operations"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "of bandwidth: traffic"}
-- overhead_ns = {type = "DOUBLE", doc = "NULL: the program launches its operators"}
-- work_flop = {type = "DOUBLE", doc = "for compute: operations of all operators, if compared with
-- this peak"}
-- work_bytes = {type = "DOUBLE", doc = "for bandwidth: bytes of all operators"}
-- origin_kind = {type = "VARCHAR", doc = "user, datasheet, computed, measured, or reported by the
-- profiler"}
-- source_text = {type = "VARCHAR", doc = "source of the peak"}
-- total_ns = {type = "BIGINT", doc = "time of the operators on that device"}
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
