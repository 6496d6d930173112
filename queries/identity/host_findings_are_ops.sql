-- purpose = "What findings about operators of processors say of an operator is what ops says."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["host_memory_bound", "host_op_time", "host_single_core", "ops"]
select
    found.name as subject,
    finding_name || '.total_ns' as first_figure,
    found.total_ns as first_value,
    'ops.total_ns' as second_figure,
    ops.total_ns as second_value
from
    (
        select 'host_op_time' as finding_name, name, sum(total_ns) as total_ns
        from host_op_time
        group by name
        union all
        select 'host_memory_bound', name, sum(total_ns)
        from host_memory_bound
        group by name
    ) as found
join ops on ops.name = found.name and ops.basis = 'host operators'
where
    is_above(found.total_ns, ops.total_ns)
    -- of several sources, each has its own operator with the most time
    or finding_name = 'host_op_time'
    and (select count(distinct source_id) from host_op_time) = 1
    and found.total_ns = (select max(total_ns) from host_op_time)
    and differs(found.total_ns, ops.total_ns)
union all
select
    source_id,
    'host_single_core.total_ns',
    total_ns,
    'ops.total_ns, summed',
    (select sum(total_ns) from ops where basis = 'host operators')
from host_single_core
where is_above(total_ns, (select sum(total_ns) from ops where basis = 'host operators'))
union all
select
    arg_min(name, (- total_ns, name)),
    'host_op_time: rows',
    0,
    'ops.total_ns of a run without device work, summed',
    sum(total_ns)
from ops
having bool_and(basis = 'host operators') and sum(total_ns) > 0 and not exists (from host_op_time)
