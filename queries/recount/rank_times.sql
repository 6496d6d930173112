-- purpose = "The median step of a rank is that of its steps."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "ranks"
-- keys = ["source_id", "device_id"]
-- needs = ["attribution"]
-- upon = "plain_step"
-- is_partial = true
-- skips_unknown = true
with
    median_step as (
        select source_id, round(median(step_ns)) as median_step_ns, count(*) as step_count
        from plain_step
        group by source_id
    )
select
    source_id,
    device_id,
    any_value(median_step_ns) as median_step_ns,
    any_value(step_count) as step_count
from attribution
left join median_step using (source_id)
where
    run_id = $run_id
    and source_id in (
        select source_id
        from attribution
        where run_id = $run_id
        group by source_id
        having
            count(distinct device_id) = count(distinct coalesce(device_id, -1))
            and count(distinct device_id) = 1
            and count(dur_ns) = count(*)
    )
group by source_id, device_id
