-- purpose = "A run that is compared with itself has steps of the same mean time."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "comparison_runs"
-- keys = ["side_kind"]
-- needs = ["step"]
-- upon = "plain_step"
-- is_partial = true
-- skips_unknown = true
select
    unnest(['A', 'B']) as side_kind,
    avg(step_ns) as all_mean_ns,
    if(count(*) = 1, 'one step only', null) as unstable_reason
from plain_step
having
    count(*) = (select count(*) from step where run_id = $run_id)
    and count(distinct source_id) = 1
    and (
        select count(distinct source_id)
        from attribution
        where run_id = $run_id and source_id not in (select source_id from plain_step)
    )
    = 0
