-- purpose = "Steps wait for input for the shares that the profiler's own page says."
-- source = "XProf, overview page and input pipeline: statistics of the input share"
-- report = "infeed"
-- keys = ["source_id", "device_id"]
-- needs = ["counter", "step_part"]
-- is_partial = true
select
    source_id,
    null as device_id,
    max(value) filter (where series_name = 'minimum') as min_ratio,
    max(value) filter (where series_name = 'maximum') as max_ratio
from counter
where run_id = $run_id and event_name = 'input_share' and unit = 'ratio' and record_kind = 'metric'
group by source_id
having count(*) = 4 and source_id in (select source_id from step_part where run_id = $run_id)
