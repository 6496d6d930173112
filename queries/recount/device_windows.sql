-- purpose = "A device is busy for the share of its window that its kernels and copies cover."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "gpu_utilization"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "plain_window"
-- is_partial = true
with
    reached as (
        select
            *,
            max(end_ns) over earlier as reach_ns,
            max(end_ns) filter (where is_kernel) over earlier as kernel_reach_ns
        from plain_window
        where dur_ns > 0
        window
            earlier as (
                partition by source_id, device_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            )
    )
select
    source_id,
    device_id,
    any_value(elapsed_ns) as elapsed_ns,
    sum(
        greatest(0, end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)))
    ) as busy_with_transfers_ns,
    busy_with_transfers_ns / any_value(elapsed_ns) as busy_with_transfers_ratio,
    sum(greatest(0, end_ns - greatest(start_ns, coalesce(kernel_reach_ns, start_ns)))) filter (
        where is_kernel
    )
    / any_value(elapsed_ns) as busy_ratio
from reached
group by source_id, device_id
having bool_or(is_kernel)
