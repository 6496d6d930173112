-- purpose = "Steps take the mean time, and spread as much, as the profiler's own page says."
-- source = "XProf, overview page and input pipeline: statistics of the step time"
-- report = "step_time"
-- keys = ["source_id", "device_id", "step_kind", "part_name"]
-- needs = ["counter", "step"]
-- is_partial = true
select
    source_id,
    null as device_id,
    'reported' as step_kind,
    null as part_name,
    max(value) filter (where series_name = 'average') as mean_ns,
    max(value) filter (where series_name = 'standard_deviation') as stddev_ns,
    max(value) filter (where series_name = 'minimum') as min_ns,
    max(value) filter (where series_name = 'maximum') as max_ns
from counter
where run_id = $run_id and event_name = 'step_time' and unit = 'ns' and record_kind = 'metric'
group by source_id
having
    count(*) = 4
    and source_id in (select source_id from step where run_id = $run_id and step_kind = 'reported')
