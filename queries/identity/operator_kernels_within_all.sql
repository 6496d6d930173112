-- purpose = "Operators have at most the time of all kernels, copies and memsets."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["kernel_time", "ops", "overlap"]
select
    'all operators' as subject,
    'ops.kernel_ns, summed' as first_figure,
    ops.ns as first_value,
    'overlap.sum_ns, summed' as second_figure,
    overlap.ns as second_value
from
    (select sum(kernel_ns) as ns from ops) as ops,
    (select sum(sum_ns) as ns from overlap) as overlap
where
    is_above(ops.ns, overlap.ns)
    -- what ran outside of all marks is in no class
    and (select sum(total_ns) from kernel_time)
    = (select sum(sum_ns) from overlap where work_class in ('compute', 'communication'))
