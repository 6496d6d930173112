-- purpose = "Counters ran for less than half of the time."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "data_multiplexed"
-- keys = ["source_id"]
-- needs = ["counter", "measurement"]
select
    source_id,
    min_by(event_name, (running_ratio, event_name)) as event_name,
    count(distinct event_name) as counter_count,
    min(running_ratio) as running_ratio
from counter
where
    run_id = $run_id
    and record_kind = 'event'
    and running_ratio < 0.5
    and value is not null
    and source_id in (select source_id from measurement where run_id = $run_id)
group by source_id
