-- purpose = "Steps of each kind take the time of their rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "step_time"
-- keys = ["source_id", "device_id", "step_kind", "part_name"]
-- needs = ["step"]
-- is_partial = true
select
    source_id,
    device_id,
    step_kind,
    null as part_name,
    count(*) as step_count,
    avg(dur_ns) as mean_ns,
    median(dur_ns) as median_ns,
    min(dur_ns) as min_ns,
    max(dur_ns) as max_ns,
    stddev(dur_ns) as stddev_ns,
    sum(dur_ns) as total_ns,
    (max(dur_ns) - min(dur_ns)) / nullif(median(dur_ns), 0) as spread_ratio,
    null as part_kind,
    null as share_ratio
from step
where run_id = $run_id and dur_ns is not null
group by source_id, device_id, step_kind
