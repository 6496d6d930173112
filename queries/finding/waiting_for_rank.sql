-- purpose = "Time that a rank waits in collectives for the last one to arrive, and for which."
-- source = "docs/metrics.md, section Many ranks: waiting"
-- needs = ["kernel"]
-- depends = ["collective_match", "step_window"]
-- parameters = "run_id phase"
-- columns = "win_ns call_count last_rank_index lost_ratio elapsed_ns source_id-rank device_id"
-- call_count = "BIGINT: collectives in which it waits"
-- last_rank_index = "BIGINT: the rank that the others wait for most"
-- lost_ratio = "DOUBLE: share of all waiting that is for this rank"
-- finding.title = "Ranks wait for each other"
-- finding.evidence = "in {call_count:collective}; {lost_ratio} of all waiting is for rank
-- {last_rank_index}"
-- finding.action = "Balance the work of the ranks; see what the last one does more of."
-- finding.command = "query stragglers"
-- finding.pool = "communication"
with
    calls as materialized(from collective_match($run_id, $phase)),
    ranks as (
        select
            rank_index,
            coalesce(sum(lost_ns), 0) as lost_ns,
            sum(sum(lost_ns)) over () as all_lost_ns
        from calls
        group by rank_index
    ),
    last as (
        select
            arg_max(rank_index, (lost_ns, - rank_index)) as last_rank_index,
            ratio(max(lost_ns), any_value(all_lost_ns)) as lost_ratio
        from ranks
    ),
    waits as (
        select source_id, cast(sum(wait_ns) as bigint) as win_ns, count(*) as call_count
        from calls
        where is_last is not null and wait_ns > 0
        group by source_id
    )
select
    waits.win_ns,
    waits.call_count,
    last.last_rank_index,
    last.lost_ratio,
    windows.end_ns - windows.start_ns as elapsed_ns,
    waits.source_id,
    cast(null as bigint) as device_id
from waits
cross join last
join step_window($run_id, $phase) as windows on windows.source_id = waits.source_id
order by win_ns desc, waits.source_id
