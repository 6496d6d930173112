-- purpose = "Runs with operators that have a model, but whose shapes were not recorded, so that
-- their work cannot be modeled."
-- source = "torch.profiler: record_shapes=True; docs/metrics.md, sections Modelled work and
-- Findings"
-- needs = ["calling_context", "attribution"]
-- depends = ["work_by_context"]
-- parameters = "run_id lacking_ratio"
-- columns = "win_ns-none unknown_ratio-shapes total_ns-shapes elapsed_ns-none source_id-rank
-- device_id-none"
-- unknown_ratio-shapes = "DOUBLE: share of total_ns in operators with a model, but without shapes"
-- total_ns-shapes = "BIGINT: kernel time of operators"
-- finding.title = "Shapes were not recorded"
-- finding.evidence = "{unknown_ratio} of the device time of operators ({total_ns}) has no shapes:
-- their work, rooflines and odd sizes are unknown"
-- finding.action = "Record shapes, if the profiler can (torch.profiler: record_shapes=True), for a
-- few steps."
-- finding.command = "query unmodelled_ops"
-- finding.pool = "none"
with
    spent as (
        select
            work.source_id,
            modeled.reason is not distinct from 'no shapes' as is_lacking,
            sum(work.dur_ns) as context_ns
        from attribution as work
        join
            work_by_context($run_id) as modeled
            on modeled.source_id = work.source_id
            and modeled.context_id = work.context_id
        where
            work.run_id = $run_id
            and work.work_kind = 'kernel'
            and modeled.reason is distinct from 'no operator'
        group by all
    )
select
    cast(null as bigint) as win_ns,
    ratio(coalesce(sum(context_ns) filter (where is_lacking), 0), sum(context_ns)) as unknown_ratio,
    cast(sum(context_ns) as bigint) as total_ns,
    cast(null as bigint) as elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from spent
group by source_id
having unknown_ratio >= $lacking_ratio
order by unknown_ratio desc, source_id
