-- purpose = "Time that processors lose to waiting for data or units, for instructions, or to bad
-- speculation."
-- source = "Yasin 2014 (A Top-Down Method), sect. 3; docs/metrics.md, sections Processor counters
-- and Findings"
-- needs = ["measurement"]
-- depends = ["cpu_figure", "whole_ns"]
-- parameters = "run_id stalled_ratio"
-- stalled_ratio = {type = "DOUBLE", doc = "share of the slots from which a kind of loss counts",
-- default = 0.2}
-- columns = "loss_kind win_ns lost_ratio-slots elapsed_ns-measured source_id-rank device_id-none"
-- loss_kind = "VARCHAR: backend (data or units), frontend (instructions) or bad_speculation"
-- win_ns = "elapsed_ns of its measurements, times the share of the slots; NULL without elapsed
-- time"
-- lost_ratio-slots = "DOUBLE: share of the slots lost, mean over the time"
-- finding.title = "The processor waits"
-- finding.evidence = "most lost: {loss_kind}, {lost_ratio} of the slots"
-- finding.action = "backend: better locality, blocking, prefetch, or more memory bandwidth;
-- frontend: smaller, hotter code (profile-guided optimization); bad_speculation: branchless code or
-- sorted data."
-- finding.command = "query perf_overview"
-- finding.pool = "compute"
with
    lost as (
        select source_id, measurement_index, figure_name as loss_kind, max(value) as lost_ratio
        from cpu_figure($run_id, 'measurement')
        where figure_name in ('backend', 'frontend', 'bad_speculation') and value is not null
        group by source_id, measurement_index, figure_name
    ),
    measured as (
        select *, sum(dur_ns) over (partition by source_id) as all_ns
        from measurement
        where run_id = $run_id
    )
select
    lost.loss_kind,
    whole_ns(sum(measured.dur_ns * least(lost.lost_ratio, 1))) as win_ns,
    coalesce(
        ratio(sum(measured.dur_ns * lost.lost_ratio), sum(measured.dur_ns)), avg(lost.lost_ratio)
    ) as lost_ratio,
    cast(any_value(measured.all_ns) as bigint) as elapsed_ns,
    lost.source_id,
    cast(null as bigint) as device_id
from lost
join
    measured
    on measured.source_id = lost.source_id
    and measured.measurement_index = lost.measurement_index
where lost.lost_ratio >= $stalled_ratio
group by lost.source_id, lost.loss_kind
order by win_ns desc nulls last, lost.source_id, lost.loss_kind
