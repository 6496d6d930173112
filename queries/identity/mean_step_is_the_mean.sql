-- purpose = "The mean of all steps is the mean of the steps."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["steps"]
select
    'source ' || every.source_id as subject,
    'steps.mean_ns of (all)' as first_figure,
    every.mean_ns as first_value,
    'steps.elapsed_ns, mean' as second_figure,
    ns as second_value
from (from steps where step_name = '(all)') as every
join
    (
        select source_id, avg(elapsed_ns) as ns from steps where step_index is not null group by all
    ) as each
    on each.source_id = every.source_id
where differs(every.mean_ns, ns)
