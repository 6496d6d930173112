-- purpose = "Kernels by name are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "kernel_time"
-- keys = ["name"]
-- needs = ["kernel"]
select
    name,
    sum(launch_count) as launch_count,
    sum(dur_ns) as total_ns,
    sum(dur_ns) / sum(case when dur_ns is not null then launch_count end) as mean_ns,
    min(coalesce(min_ns, case when launch_count = 1 then dur_ns end)) as min_ns,
    max(coalesce(max_ns, case when launch_count = 1 then dur_ns end)) as max_ns,
    sum(dur_ns) / (select sum(dur_ns) from kernel where run_id = $run_id) as share_ratio
from kernel
where run_id = $run_id
group by name
