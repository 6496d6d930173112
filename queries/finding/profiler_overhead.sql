-- purpose = "Time in which the profiler itself worked while the device was idle, as it recorded
-- it."
-- source = "torch.profiler: category overhead, from CUPTI's activity records of overhead"
-- needs = ["slice", "attribution"]
-- depends = ["recorded_gap"]
-- parameters = "run_id phase"
-- columns = "name win_ns call_count longest_ns-call elapsed_ns source_id-rank device_id"
-- name = "VARCHAR: what it did"
-- win_ns = "its time in the idle time of the device between work"
-- call_count = "BIGINT: how often while the device was idle"
-- finding.title = "The profiler takes time itself"
-- finding.evidence = "{call_count:time} while the device was idle, most {name}; longest
-- {longest_ns}"
-- finding.action = "Record fewer steps or fewer activities, warm up first (schedule), and compare
-- the step time without the profiler."
-- finding.command = "query step_time"
-- finding.sums = ["call_count"]
-- finding.pool = "idle"
with
    worked as (
        select
            source_id,
            event_id,
            name,
            start_ns,
            start_ns + dur_ns as end_ns,
            max(start_ns + dur_ns) over (
                partition by source_id
                order by start_ns, event_id
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from slice
        where run_id = $run_id and slice_kind = 'overhead' and dur_ns > 0
    ),
    -- of what it does on several threads at once, each time counts once
    overhead as (
        select source_id, event_id, name, greatest(start_ns, reach_ns) as start_ns, end_ns
        from worked
        where reach_ns is null or end_ns > reach_ns
    ),
    idle as (
        select
            gaps.source_id,
            gaps.device_id,
            gaps.elapsed_ns,
            overhead.event_id,
            overhead.name,
            least(gaps.gap_end_ns, overhead.end_ns)
            - greatest(gaps.gap_start_ns, overhead.start_ns) as idle_ns
        from recorded_gap($run_id, $phase) as gaps
        join
            overhead
            on overhead.source_id = gaps.source_id
            and overhead.start_ns < gaps.gap_end_ns
            and overhead.end_ns > gaps.gap_start_ns
        -- before the first work and after the last, it holds up nothing
        where
            gaps.previous_event_id is not null
            and gaps.next_event_id is not null
            and gaps.rest_kind <> 'not_recorded'
    )
select
    name,
    cast(sum(idle_ns) as bigint) as win_ns,
    count(distinct event_id) as call_count,
    max(idle_ns) as longest_ns,
    any_value(elapsed_ns) as elapsed_ns,
    source_id,
    device_id
from idle
group by source_id, device_id, name
order by win_ns desc, source_id, device_id, name
