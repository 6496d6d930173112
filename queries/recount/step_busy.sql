-- purpose = "The device is busy in a step where a row of it is, from whichever step."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "steps"
-- keys = ["source_id", "step_index"]
-- needs = ["step"]
-- upon = "plain_step"
-- is_partial = true
with
    merged as (
        select
            source_id,
            device_id,
            start_ns + dur_ns as end_ns,
            least(
                end_ns,
                greatest(
                    start_ns,
                    coalesce(
                        max(start_ns + dur_ns) over (
                            partition by source_id, device_id
                            order by start_ns, start_ns + dur_ns
                            rows between unbounded preceding and 1 preceding
                        ),
                        start_ns
                    )
                )
            ) as begin_ns
        from attribution
        where run_id = $run_id
        qualify bool_and(dur_ns is not null) over (partition by source_id)
    ),
    device as (
        select source_id, count(distinct coalesce(device_id, -1)) as device_count
        from merged
        group by source_id
    ),
    busy as (
        select
            plain_step.source_id,
            step_index,
            sum(
                greatest(
                    0,
                    least(merged.end_ns, plain_step.end_ns)
                    - greatest(merged.begin_ns, plain_step.end_ns - step_ns)
                )
            ) as busy_ns
        from plain_step
        join merged using (source_id)
        group by plain_step.source_id, step_index
    )
select source_id, step_index, busy_ns, busy_ns / nullif(step_ns * device_count, 0) as busy_ratio
from plain_step
join device using (source_id)
join busy using (source_id, step_index)
