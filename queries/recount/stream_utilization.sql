-- purpose = "Work of a stream is that of the rows, where no work is outside of the steps."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "stream_utilization"
-- keys = ["source_id", "device_id", "stream_id"]
-- needs = ["attribution"]
-- is_partial = true
with
    reached as (
        select
            source_id,
            device_id,
            stream_id,
            work_kind,
            start_ns,
            start_ns + dur_ns as end_ns,
            max(end_ns) over (
                partition by source_id, device_id, stream_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from attribution
        where
            run_id = $run_id
            and source_id not in (
                select source_id
                from attribution
                where
                    run_id = $run_id
                    and (
                        dur_ns is null
                        or step_index is null
                        and source_id in (select source_id from step where run_id = $run_id)
                    )
            )
    )
select
    source_id,
    device_id,
    stream_id,
    sum(end_ns - start_ns) as sum_ns,
    sum(greatest(0, end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)))) as busy_ns,
    count(*) filter (where work_kind = 'kernel') as kernel_count,
    count(*) filter (where work_kind <> 'kernel') as transfer_count
from reached
group by source_id, device_id, stream_id
