-- purpose = "Kernels with counters are launched as often as the rows say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "kernel_figures"
-- keys = ["name"]
-- upon = "launch_work"
-- is_partial = true
select
    name,
    sum(launches) as launch_count,
    sum(ns) as total_ns,
    sum(ns) / sum(sum(ns)) over () as share_ratio
from launch_work
group by name
having (select bool_and(ns is not null) from launch_work)
