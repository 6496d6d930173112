-- purpose = "The profiler works while a device is idle between work, each time once."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "profiler_overhead"
-- keys = ["source_id", "device_id", "name"]
-- needs = ["slice", "attribution"]
-- upon = "plain_gap"
with
    overhead as (
        select
            source_id,
            event_id as overhead_id,
            name,
            start_ns,
            start_ns + dur_ns as end_ns,
            max(start_ns + dur_ns) over (
                one rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from slice
        where run_id = $run_id and slice_kind = 'overhead' and dur_ns > 0
        window one as (partition by source_id order by start_ns, event_id)
    )
select
    plain_gap.source_id,
    device_id,
    name,
    sum(least(gap_end_ns, end_ns) - greatest(gap_start_ns, start_ns, reach_ns)) as win_ns,
    count(distinct overhead_id) as call_count,
    max(least(gap_end_ns, end_ns) - greatest(gap_start_ns, start_ns, reach_ns)) as longest_ns,
    any_value(elapsed_ns) as elapsed_ns
from plain_gap
join
    overhead
    on overhead.source_id = plain_gap.source_id
    and greatest(start_ns, reach_ns) < gap_end_ns
    and end_ns > greatest(gap_start_ns, reach_ns)
where
    event_id is not null
    and not is_first
    -- of all work of the run
    and (select count(*) from plain_window)
    = (select count(*) from attribution where run_id = $run_id)
group by plain_gap.source_id, device_id, name
