-- purpose = "Findings about processors give what perf_overview gives for a measurement."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["cpu_idle_cores", "cpu_stalled", "perf_overview"]
select
    found.name as subject,
    'cpu_idle_cores.used_count' as first_figure,
    found.used_count as first_value,
    'perf_overview.used_cpu_count, nearest' as second_figure,
    arg_min(told.used_cpu_count, abs(told.used_cpu_count - found.used_count)) as second_value
from cpu_idle_cores as found
join perf_overview as told on told.used_cpu_count is not null
group by found.name, found.used_count
having differs(found.used_count, second_value)
union all
select
    found.loss_kind,
    'cpu_stalled.lost_ratio',
    found.lost_ratio,
    'perf_overview: its largest share',
    max(told.lost_ratio)
from cpu_stalled as found
join
    (
        select 'backend' as loss_kind, backend_bound_ratio as lost_ratio
        from perf_overview
        union all
        select 'frontend', frontend_bound_ratio
        from perf_overview
        union all
        select 'bad_speculation', bad_speculation_ratio
        from perf_overview
    ) as told
    on told.loss_kind = found.loss_kind
group by found.loss_kind, found.lost_ratio
having is_above(found.lost_ratio, max(told.lost_ratio))
