-- purpose = "Tables of operators without operations, bytes or a known device, so that they have no
-- roofline."
-- source = "docs/metrics.md, sections Operators and Findings"
-- needs = ["op_stat"]
-- depends = ["reported_op_figures"]
-- parameters = "run_id lacking_ratio"
-- columns = "win_ns-none unknown_ratio-work total_ns-self reason-work elapsed_ns-none
-- source_id-rank device_id"
-- unknown_ratio-work = "DOUBLE: share of total_ns in operators without operations or bytes; 1 if no
-- peak is known"
-- reason-work = "VARCHAR: why they are unknown"
-- finding.title = "Operators have no roofline"
-- finding.evidence = "{unknown_ratio} of operator time: {reason}"
-- finding.action = "Export with a profiler version that has the cost model (xplane with HLO), or
-- its HLO statistics; name an unknown device at ingest (--device)."
-- finding.command = "query reported_op_breakdown"
-- finding.pool = "none"
with
    summed as (
        select
            *,
            case
                when known_ns > 0 and compute_ns + bandwidth_ns is null
                then 1
                else 1 - ratio(coalesce(known_ns, 0), total_ns)
            end as lacking_time_ratio
        from reported_op_figures($run_id, null, null, 'run', 'device', null)
    )
select
    cast(null as bigint) as win_ns,
    lacking_time_ratio as unknown_ratio,
    self_ns as total_ns,
    reason,
    cast(null as bigint) as elapsed_ns,
    source_id,
    device_id
from summed
where lacking_time_ratio >= $lacking_ratio
order by lacking_time_ratio desc, source_id, device_id
