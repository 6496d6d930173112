-- purpose = "Kernels of a device are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "gpu_utilization"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "uncut_work"
-- is_partial = true
with
    reached as (
        select
            *,
            max(end_ns) over (
                partition by source_id, device_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from uncut_work
        where is_kernel
    )
select
    source_id,
    device_id,
    any_value(rank_index) as rank_index,
    count(*) as kernel_count,
    sum(dur_ns) as sum_ns,
    sum(greatest(0, end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)))) as busy_ns,
    sum(dur_ns) - busy_ns as overlap_ns
from reached
group by source_id, device_id
