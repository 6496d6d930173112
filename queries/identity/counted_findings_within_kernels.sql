-- purpose = "Findings about counters name no more time and launches of a kernel than kernels."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["bandwidth_bound", "below_roof", "kernel_figures", "low_occupancy"]
select
    found.name as subject,
    finding_name || '.' || unnest(['total_ns', 'launch_count']) as first_figure,
    unnest([found.total_ns, found.launch_count]) as first_value,
    unnest(['kernel_figures.total_ns', 'kernel_figures.launch_count']) as second_figure,
    unnest([kernels.total_ns, kernels.launch_count]) as second_value
from
    (
        select
            'bandwidth_bound' as finding_name,
            name,
            sum(total_ns) as total_ns,
            sum(launch_count) as launch_count
        from bandwidth_bound
        group by name
        union all
        select 'below_roof', name, sum(total_ns), sum(launch_count)
        from below_roof
        group by name
        union all
        select 'low_occupancy', name, sum(total_ns), sum(launch_count)
        from low_occupancy
        group by name
    ) as found
left join kernel_figures as kernels on kernels.name = found.name
where
    is_above(found.total_ns, coalesce(kernels.total_ns, 0))
    or is_above(found.launch_count, coalesce(kernels.launch_count, 0))
union all
-- what bounds a kernel of several launches need not bound each of them
select
    name,
    'below_roof: rows',
    0,
    'kernel_figures.roof_ratio of one launch bound by latency, below 0.5',
    roof_ratio
from kernel_figures
where
    launch_count = 1
    and bound_kind = 'latency'
    and roof_ratio < 0.5
    and total_ns > 1
    and name not in (select name from below_roof)
