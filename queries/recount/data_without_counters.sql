-- purpose = "Kernels whose work is counted have no bound where the file does not name the device."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "data_without_counters"
-- keys = ["source_id"]
-- upon = "launch_work"
-- is_partial = true
select
    source_id,
    sum(ns) as total_ns,
    1.0 as unknown_ratio,
    'device unknown' as reason,
    null as missing_metrics
from launch_work
where
    source_id not in (select source_id from device where run_id = $run_id)
    and source_id not in (select source_id from assumption where run_id = $run_id)
group by source_id
having bool_and(fp64 + fp32 + fp16 + tensor is not null and ns > 0)
