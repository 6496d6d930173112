-- purpose = "Launches with counters from which their bound cannot be computed, and why."
-- source = "docs/metrics.md, sections Bound and near what and Findings"
-- needs = ["kernel_counter"]
-- depends = ["kernel_bound", "step_launch"]
-- parameters = "run_id phase-counted lacking_ratio"
-- columns = "win_ns-none unknown_ratio-bound total_ns reason-bound missing_metrics elapsed_ns-none
-- source_id-rank device_id-none"
-- unknown_ratio-bound = "DOUBLE: share of total_ns in launches without a bound"
-- finding.title = "Counters do not give the bound of kernels"
-- finding.evidence = "{unknown_ratio} of the launches with counters[, by their {total_ns}]:
-- {reason}"
-- finding.action = "Collect them: ncu --set roofline, or --metrics with those missing; name an
-- unknown device at ingest (--device)."
-- finding.command = "kernels"
-- finding.pool = "none"
with
    launches as (
        select
            source_id,
            bound_kind is null as is_unknown,
            coalesce(bound_reason, dur_reason) as reason,
            missing_metrics,
            coalesce(dur_ns, 0) as dur_ns
        from kernel_bound
        where
            run_id = $run_id
            and (
                $phase = 'all'
                or (source_id, event_id)
                in (select (source_id, event_id) from step_launch($run_id, $phase))
            )
    )
select
    cast(null as bigint) as win_ns,
    coalesce(
        ratio(sum(dur_ns) filter (where is_unknown), sum(dur_ns)), avg(cast(is_unknown as integer))
    ) as unknown_ratio,
    nullif(cast(sum(dur_ns) as bigint), 0) as total_ns,
    arg_min(reason, (- dur_ns, reason)) filter (where is_unknown) as reason,
    arg_min(missing_metrics, (- dur_ns, missing_metrics)) filter (
        where is_unknown
    ) as missing_metrics,
    cast(null as bigint) as elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from launches
group by source_id
having unknown_ratio >= $lacking_ratio
order by unknown_ratio desc, source_id
