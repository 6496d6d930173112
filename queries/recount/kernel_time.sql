-- purpose = "Kernels by name are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "kernel_time"
-- keys = ["name"]
-- needs = ["kernel"]
with
    kernels as (
        select
            kernel.* replace (
                least(kernel.dur_ns, attribution.dur_ns) as dur_ns,
                coalesce(launch_count, 1) as launch_count
            )
        from kernel
        left join attribution using (run_id, source_id, event_id)
        where run_id = $run_id
    )
select
    name,
    sum(launch_count) as launch_count,
    sum(dur_ns) as total_ns,
    sum(dur_ns) / sum(case when dur_ns is not null then launch_count end) as mean_ns,
    min(coalesce(min_ns, case when launch_count = 1 then dur_ns end)) as min_ns,
    max(coalesce(max_ns, case when launch_count = 1 then dur_ns end)) as max_ns,
    sum(dur_ns) / (select sum(dur_ns) from kernels) as share_ratio
from kernels
-- times from cycles, and launches that several sources have, are counted in another way
where (select count(distinct source_id) = 1 and bool_and(dur_ns is not null) from kernels)
group by name
