-- purpose = "Time that a rank waits in collectives for the last one to arrive, and for which."
-- source = "docs/metrics.md, section Many ranks: waiting"
-- needs = ["kernel"]
-- depends = ["collective_match", "step_window", "device_rank", "work_in_window"]
-- parameters = "run_id phase"
-- columns = "win_ns call_count last_rank_index lost_ratio busy_rank_index late_rank_index
-- more_work_ns elapsed_ns source_id-rank device_id-merged"
-- call_count = "BIGINT: collectives in which it waits"
-- device_id-merged = "BIGINT: device of the rank, if the file has several ranks"
-- last_rank_index = "BIGINT: the rank that the others wait for most"
-- lost_ratio = "DOUBLE: share of all waiting that is for this rank"
-- busy_rank_index = "BIGINT: last_rank_index, if it works more than the others"
-- late_rank_index = "BIGINT: last_rank_index, if it does not"
-- more_work_ns = "BIGINT: device work of that rank except communication, minus the median of the
-- ranks"
-- finding.title = "Ranks wait for each other"
-- finding.evidence = "in {call_count:collective}; {lost_ratio} of all waiting is for rank
-- {last_rank_index}"
-- finding.action = "[Give rank {busy_rank_index} less work: it does {more_work_ns} more than the
-- median of the ranks.][Rank {late_rank_index} has no more device work than the others: see what
-- its
-- host does before the collectives (data, garbage collection, other processes), and its clock.]"
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
        select source_id, rank_index, cast(sum(wait_ns) as bigint) as win_ns, count(*) as call_count
        from calls
        where is_last is not null and wait_ns > 0
        group by source_id, rank_index
    ),
    worked as (
        select
            device_rank.rank_index,
            coalesce(
                sum(work.end_ns - work.start_ns) filter (where work.work_class <> 'communication'),
                0
            ) as work_ns
        from work_in_window($run_id, $phase) as work
        join
            device_rank
            on device_rank.run_id = $run_id
            and device_rank.source_id = work.source_id
            and device_rank.device_id is not distinct from work.device_id
        group by device_rank.rank_index
    ),
    excess as (
        select
            cast(
                round(
                    coalesce(
                        any_value(worked.work_ns) filter (
                            where worked.rank_index = last.last_rank_index
                        ),
                        0
                    )
                    - median(worked.work_ns)
                ) as bigint
            ) as more_work_ns
        from worked
        cross join last
    ),
    more as (
        select
            last.*,
            excess.more_work_ns,
            -- enough to explain a tenth of the time that one rank waits
            10 * excess.more_work_ns >= (select max(win_ns) from waits) as is_busy
        from last
        cross join excess
    ),
    -- of a file with the work of several ranks
    devices as (
        select source_id, rank_index, min(device_id) as device_id
        from device_rank
        where run_id = $run_id
        group by source_id, rank_index
        qualify count(*) over (partition by source_id) > 1
    )
select
    least(waits.win_ns, windows.end_ns - windows.start_ns) as win_ns,
    waits.call_count,
    more.last_rank_index,
    more.lost_ratio,
    case when more.is_busy then more.last_rank_index end as busy_rank_index,
    case when not more.is_busy then more.last_rank_index end as late_rank_index,
    more.more_work_ns,
    windows.end_ns - windows.start_ns as elapsed_ns,
    waits.source_id,
    devices.device_id
from waits
cross join more
join step_window($run_id, $phase) as windows on windows.source_id = waits.source_id
left join devices on devices.source_id = waits.source_id and devices.rank_index = waits.rank_index
order by win_ns desc, waits.source_id, devices.device_id, waits.rank_index
