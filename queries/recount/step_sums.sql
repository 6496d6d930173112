-- purpose = "All steps together take the sum of theirs."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "steps"
-- keys = ["source_id", "step_name"]
-- needs = ["step"]
-- upon = "plain_step"
-- is_partial = true
-- skips_unknown = true
select
    source_id,
    '(all)' as step_name,
    count(*) as step_count,
    false as is_stable,
    avg(step_ns) as mean_ns,
    max(step_ns) as longest_ns,
    1e9 * count(*) / sum(step_ns) as steps_per_s,
    if(
        count(*) > 1, (max(step_ns) - min(step_ns)) / nullif(median(step_ns), 0), null
    ) as spread_ratio,
    min(end_ns - step_ns) as start_ns,
    'host' as step_kind,
    if(count(*) = 1, 'one step only', null) as reason,
    (
        select rank_index
        from source_file
        where run_id = $run_id and source_file.source_id = plain_step.source_id
    ) as rank_index
from plain_step
group by source_id
