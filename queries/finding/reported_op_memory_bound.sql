-- purpose = "Time of operators near the bandwidth roof above what their bytes take there, by the
-- profiler's own operations and bytes."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.2; docs/metrics.md, sections Operators and Findings"
-- needs = ["op_stat"]
-- depends = ["reported_op_figures", "whole_ns"]
-- parameters = "run_id"
-- columns = "name-type win_ns total_ns-self share_ratio-self roof_ratio elapsed_ns-all
-- source_id-rank device_id"
-- win_ns = "total_ns, less the time of its bytes at peak"
-- finding.title = "Operators are bound by memory"
-- finding.evidence = "most in {name}: {share_ratio} of operator time, at {roof_ratio} of its roof"
-- finding.action = "Beyond this, only fewer bytes help: larger fusions, smaller types, larger
-- batches for products, and layouts without copies."
-- finding.command = "query reported_op_breakdown"
-- finding.pool = "compute"
with
    groups as (
        select *, sum(self_ns) over (partition by source_id, device_id) as all_ns
        from reported_op_figures($run_id, null, null, 'type', 'device', null)
    )
select
    group_name as name,
    -- work that is unknown has no win
    whole_ns(least(self_ns, known_ns) * (1 - roof_ratio)) as win_ns,
    self_ns as total_ns,
    share_ratio,
    roof_ratio,
    cast(all_ns as bigint) as elapsed_ns,
    source_id,
    device_id
from groups
where bound_kind = 'bandwidth' and win_ns > 0
order by win_ns desc, source_id, device_id, name
