-- purpose = "Findings name no more time and calls of an operator than ops."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["misaligned_product", "op_below_roof", "ops"]
select
    found.name as subject,
    finding_name || '.' || unnest(['total_ns', 'call_count']) as first_figure,
    unnest([found.total_ns, found.call_count]) as first_value,
    unnest(['ops.total_ns', 'ops.call_count']) as second_figure,
    unnest([ops.total_ns, ops.call_count]) as second_value
from
    (
        select
            'op_below_roof' as finding_name,
            name,
            sum(total_ns) as total_ns,
            sum(call_count) as call_count
        from op_below_roof
        group by name
        union all
        select 'misaligned_product', name, sum(total_ns), sum(call_count)
        from misaligned_product
        group by name
    ) as found
left join ops on ops.name = found.name
where
    is_above(found.total_ns, coalesce(ops.total_ns, 0))
    or is_above(found.call_count, coalesce(ops.call_count, 0))
