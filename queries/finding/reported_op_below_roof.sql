-- purpose = "Time of operators above what their work takes at the roof, by the profiler's own
-- operations and bytes."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.2; docs/metrics.md, sections Operators and Findings"
-- needs = ["op_stat"]
-- depends = ["reported_op_figures", "usual_latency_ratio", "whole_ns"]
-- parameters = "run_id"
-- columns = "name-type win_ns total_ns-self share_ratio-self roof_ratio bound_kind elapsed_ns-all
-- source_id-rank device_id"
-- finding.title = "Operators are far from every roof"
-- finding.evidence = "most to win in {name}: {share_ratio} of operator time, at {roof_ratio} of its
-- roof"
-- finding.action = "Fuse them, enlarge them, or change the layout or type that they work on."
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
    bound_kind,
    cast(all_ns as bigint) as elapsed_ns,
    source_id,
    device_id
from groups
where roof_ratio < usual_latency_ratio()
order by win_ns desc, source_id, device_id, name
