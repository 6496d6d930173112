-- purpose = "The utilization of a run is that of its devices."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["training_metrics", "gpu_utilization"]
select
    run_name as subject,
    'training_metrics.busy_ratio' as first_figure,
    training_metrics.busy_ratio as first_value,
    'gpu_utilization.busy_ns / elapsed_ns, summed' as second_figure,
    other.busy_ratio as second_value
from
    training_metrics,
    (select sum(busy_ns) / sum(elapsed_ns) as busy_ratio from gpu_utilization) as other
where differs(training_metrics.busy_ratio, other.busy_ratio)
