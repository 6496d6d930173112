-- purpose = "Work of a stream is that of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "stream_utilization"
-- keys = ["source_id", "device_id", "stream_id"]
-- needs = ["attribution"]
-- upon = "uncut_work"
-- is_partial = true
with
    reached as (
        select
            *,
            max(end_ns) over (
                partition by source_id, device_id, stream_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from uncut_work
    )
select
    source_id,
    device_id,
    stream_id,
    any_value(rank_index) as rank_index,
    sum(dur_ns) as sum_ns,
    sum(greatest(0, end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)))) as busy_ns,
    count(*) filter (where is_kernel) as kernel_count,
    count(*) filter (where not is_kernel) as transfer_count
from reached
group by source_id, device_id, stream_id
