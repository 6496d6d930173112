-- purpose = "Processor counters that ran only part of the time, so that their values are
-- extrapolated."
-- source = "perf stat: multiplexing; docs/metrics.md, sections Processor counters and Findings"
-- needs = ["counter", "measurement"]
-- parameters = "run_id running_below"
-- running_below = {type = "DOUBLE", doc = "share of the time below which a counter is doubtful",
-- default = 0.5}
-- columns = "win_ns-none event_name counter_count running_ratio-least elapsed_ns-none
-- source_id-rank device_id-none"
-- counter_count = "BIGINT: events that ran for less"
-- running_ratio-least = "DOUBLE: lowest share of the time that one of them ran"
-- finding.title = "Counters were multiplexed"
-- finding.evidence = "{counter_count:event} ran for little of the time; {event_name} for
-- {running_ratio}"
-- finding.action = "Measure fewer events at a time, in several runs."
-- finding.command = "query counter_quality"
-- finding.pool = "none"
select
    cast(null as bigint) as win_ns,
    arg_min(event_name, (running_ratio, event_name)) as event_name,
    count(distinct event_name) as counter_count,
    min(running_ratio) as running_ratio,
    cast(null as bigint) as elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from counter
semi join measurement using (run_id, source_id)
where
    run_id = $run_id
    and record_kind = 'event'
    and running_ratio < $running_below
    and value is not null
group by source_id
order by running_ratio, source_id
