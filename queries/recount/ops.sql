-- purpose = "Kernels and copies by operator are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "ops"
-- keys = ["name"]
-- needs = ["attribution"]
-- is_partial = true
select
    coalesce(op_name, '(no operator)') as name,
    sum(dur_ns) as total_ns,
    count(*) filter (where work_kind = 'kernel') as kernel_count,
    count(*) filter (where work_kind <> 'kernel') as copy_count,
    sum(dur_ns) / sum(sum(dur_ns)) over () as share_ratio
from attribution
where run_id = $run_id
group by op_name
