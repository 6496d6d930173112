-- purpose = "Findings name no more time and launches of a kernel than kernel_time."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["kernel_time", "product_in_fp16", "product_in_fp32", "small_grid"]
select
    found.name as subject,
    finding_name || '.' || unnest(['total_ns', 'launch_count']) as first_figure,
    unnest([found.total_ns, found.launch_count]) as first_value,
    unnest(['kernel_time.total_ns', 'kernel_time.launch_count']) as second_figure,
    unnest([kernels.total_ns, kernels.launch_count]) as second_value
from
    (
        select
            'product_in_fp16' as finding_name,
            name,
            sum(total_ns) as total_ns,
            sum(launch_count) as launch_count
        from product_in_fp16
        group by name
        union all
        select 'product_in_fp32', name, sum(total_ns), sum(launch_count)
        from product_in_fp32
        group by name
        union all
        select 'small_grid', name, sum(total_ns), sum(launch_count)
        from small_grid
        group by name
    ) as found
left join kernel_time as kernels on kernels.name = found.name
where
    is_above(found.total_ns, coalesce(kernels.total_ns, 0))
    or is_above(found.launch_count, coalesce(kernels.launch_count, 0))
