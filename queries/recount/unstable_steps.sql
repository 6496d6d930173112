-- purpose = "Steps are slow above one and a half times the median, by their time and by that of
-- their own host and device."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "unstable_steps"
-- keys = ["source_id"]
-- needs = ["step"]
-- upon = "plain_step"
-- is_partial = true
-- skips_unknown = true
with
    medians as (
        select source_id, median(step_ns) as median_ns, median(own_ns) as median_own_ns
        from plain_step
        group by source_id
        having count(*) > 2
    )
select
    source_id,
    if(any_value(is_worked), null, sum(step_ns - median_ns) filter (where is_slow)) as win_ns,
    count(*) filter (where is_slow) as slow_count,
    count(*) as step_count,
    round(any_value(median_ns)) as median_ns,
    max(step_ns) as slowest_ns,
    max_by(step_index, step_ns) as slowest_step_index,
    sum(step_ns) as elapsed_ns
from
    (
        select *, step_ns > 1.5 * median_ns and own_ns > 1.5 * median_own_ns as is_slow
        from plain_step
        join medians using (source_id)
    )
group by source_id
having slow_count > 0
