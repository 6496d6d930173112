-- purpose = "All steps are in the count of all steps."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["steps"]
select
    'source ' || every.source_id as subject,
    'steps.step_count of (all)' as first_figure,
    every.step_count as first_value,
    'rows of steps' as second_figure,
    n as second_value
from (from steps where step_name = '(all)') as every
join
    (select source_id, count(*) as n from steps where step_index is not null group by all) as each
    on each.source_id = every.source_id
where differs(every.step_count, n)
