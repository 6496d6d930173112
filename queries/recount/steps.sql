-- purpose = "Kernels and work of a step are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "steps"
-- keys = ["source_id", "step_index"]
-- needs = ["attribution", "step"]
-- is_partial = true
select
    source_id,
    step_index,
    count(*) as work_count,
    count(*) filter (where work_kind = 'kernel') as kernel_count,
    sum(dur_ns) filter (where work_kind = 'kernel') as kernel_ns
from attribution
where run_id = $run_id and step_index is not null
group by source_id, step_index
