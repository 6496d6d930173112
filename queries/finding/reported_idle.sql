-- purpose = "Idle time of devices, as the profiler's table of operators reports it."
-- source = "TensorFlow's profiler: the row IDLE of its operator table; docs/metrics.md, sections
-- Operators and Findings"
-- needs = ["op_stat"]
-- depends = ["reported_op_classed"]
-- parameters = "run_id"
-- columns = "win_ns idle_ratio elapsed_ns-operators source_id-rank device_id"
-- win_ns = "idle time"
-- idle_ratio = "DOUBLE: share of the time of the table"
-- finding.title = "The device is idle"
-- finding.evidence = "{idle_ratio} of the device's time in the profiler's table of operators"
-- finding.action = "Record a timeline (trace viewer, xplane) to see what it waits for: input,
-- launches or other hosts."
-- finding.command = "query reported_op_breakdown"
-- finding.pool = "idle"
with
    rows as (
        select *
        from reported_op_classed($run_id)
        where side_kind = 'device'
        qualify op_kind = max(op_kind) over (partition by source_id)
    )
select
    cast(sum(self_ns) filter (where op_class = 'idle') as bigint) as win_ns,
    ratio(sum(self_ns) filter (where op_class = 'idle'), sum(self_ns)) as idle_ratio,
    cast(sum(self_ns) as bigint) as elapsed_ns,
    source_id,
    device_id
from rows
group by source_id, device_id
having win_ns > 0
order by win_ns desc, source_id, device_id
