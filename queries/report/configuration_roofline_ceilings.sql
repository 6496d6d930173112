-- purpose = "Ceilings of a sweep's roofline: device peaks, with the work compared with each peak."
-- source = "ParaDnn (Wang Y. E. 2020), Table 3 and Fig. 3; the figures by their own sources"
-- needs = ["configuration"]
-- depends = ["configuration_work", "ceiling_figures", "offered_ceiling"]
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
            known.*,
            worked.total_ns,
            case when is_of_flop then work_flop when is_of_bytes then work_bytes end as work
        from worked
        join
            offered_ceiling($run_id, $ceiling) as known
            on known.run_id = worked.run_id
            and known.source_id = worked.source_id
            and known.device_id is null
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
