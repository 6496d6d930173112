-- purpose = "A device is idle where no row is: in the window of the marked steps, or of the host
-- and the device without marks."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "overlap"
-- keys = ["source_id", "device_id", "work_class"]
-- needs = ["attribution"]
-- upon = "plain_window"
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
        from plain_window
    )
select
    source_id,
    device_id,
    'idle' as work_class,
    elapsed_ns
    - sum(greatest(0, end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)))) as exposed_ns,
    elapsed_ns,
    any_value(rank_index) as rank_index,
    exposed_ns / elapsed_ns as share_ratio
from reached
group by source_id, device_id, elapsed_ns
