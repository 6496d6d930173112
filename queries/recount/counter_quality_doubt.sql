-- purpose = "Counts of an event are in doubt by the time that it was not counted, and their
-- spread."
-- source = "docs/metrics.md, section Processor counters"
-- report = "counter_quality"
-- keys = ["event_name"]
-- needs = ["counter"]
-- is_partial = true
select
    min(event_name) as event_name,
    sum(abs(value) * (1 - coalesce(running_ratio, 1)) + coalesce(stddev, 0))
    / nullif(sum(abs(value)), 0) as doubt_ratio
from counter
where run_id = $run_id and record_kind = 'event' and event_key is not null
group by event_key
having
    count(value) = count(*)
    and bool_and(value <> 0)
    and min(event_name) not in (
        select event_name
        from counter
        where run_id = $run_id and record_kind = 'event'
        group by event_name
        having count(distinct event_key) > 1
    )
