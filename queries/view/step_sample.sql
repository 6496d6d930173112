-- purpose = "Samples per step of each run: the metric samples_per_step, else the label batch."
-- source = "docs/metrics.md, section Steps and the stable phase"
-- depends = ["label_value"]
-- columns = "run_id sample_count"
-- sample_count = "DOUBLE: samples"
select run_id, coalesce(max(case when is_metric then value end), max(value)) as sample_count
from
    (
        select run_id, true as is_metric, value
        from run_metric
        where metric_name = 'samples_per_step'
        union all
        select run_id, false, label_number
        from label_value
        where label_name = 'batch'
    )
group by run_id
