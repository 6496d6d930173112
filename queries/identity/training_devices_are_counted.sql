-- purpose = "A run has the devices of its utilization."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["training_metrics", "gpu_utilization"]
select
    run_name as subject,
    'training_metrics.device_count' as first_figure,
    device_count as first_value,
    'rows of gpu_utilization' as second_figure,
    n as second_value
from training_metrics, (select count(*) as n from gpu_utilization) as other
where differs(device_count, n)
