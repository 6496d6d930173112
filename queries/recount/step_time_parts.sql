-- purpose = "Parts of steps that one record tells take their share of the steps' time."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "step_time"
-- keys = ["source_id", "device_id", "step_kind", "part_name", "part_kind"]
-- needs = ["step", "step_part"]
-- is_partial = true
select
    step.source_id,
    step.device_id,
    min(step_kind) as step_kind,
    part_name,
    part_kind,
    count(step_part.dur_ns) as step_count,
    sum(step_part.dur_ns) as total_ns,
    avg(step_part.dur_ns) as mean_ns,
    median(step_part.dur_ns) as median_ns,
    min(step_part.dur_ns) as min_ns,
    max(step_part.dur_ns) as max_ns,
    stddev_samp(step_part.dur_ns) as stddev_ns,
    sum(step_part.dur_ns) / nullif(sum(step.dur_ns), 0) as share_ratio
from (from step where run_id = $run_id and dur_ns is not null) as step
join
    (from step_part where run_id = $run_id) as step_part
    on step_part.source_id = step.source_id
    and step_part.step_index = step.step_index
    and step_part.device_id is not distinct from step.device_id
where
    -- a step of the host is another than that of the device
    (step.source_id, coalesce(step.device_id, -1)) not in (
        select (source_id, coalesce(device_id, -1))
        from step
        where run_id = $run_id
        group by source_id, coalesce(device_id, -1)
        having count(distinct step_kind) > 1
    )
group by step.source_id, step.device_id, part_name, part_kind
