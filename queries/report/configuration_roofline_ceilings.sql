-- purpose = "Ceilings of a sweep's roofline: device peaks, with the work compared with each peak."
-- source = "ParaDnn (Wang Y. E. 2020), Table 3 and Fig. 3; the figures by their own sources"
-- topic = "rooflines"
-- needs = ["configuration"]
-- answered_if = "exists (from offered_ceiling($run_id, null) where device_id is null)"
-- depends = ["configuration_work", "ceiling_figures", "offered_ceiling"]
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
