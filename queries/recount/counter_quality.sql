-- purpose = "Events are counted as often as the rows say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "counter_quality"
-- keys = ["event_name"]
-- needs = ["counter"]
-- is_partial = true
select
    min(event_name) as event_name,
    count(*) as value_count,
    count(*) filter (where value is null) as uncounted_count,
    min(running_ratio) as running_ratio,
    max(stddev / abs(nullif(value, 0))) as spread_ratio
from counter
where run_id = $run_id and record_kind = 'event'
group by event_key
-- not counted in an interval is none where it was counted in another
having
    count(*) filter (where status_kind = 'not_counted') = 0
    and event_name not in (
        select event_name
        from counter
        where run_id = $run_id and record_kind = 'event'
        group by event_name
        having count(distinct event_key) > 1
    )
