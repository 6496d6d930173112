-- purpose = "The stable steps are some of all steps."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["steps"]
select
    'source ' || stable.source_id as subject,
    'steps.step_count of (stable)' as first_figure,
    stable.step_count as first_value,
    'steps.step_count of (all)' as second_figure,
    every.step_count as second_value
from (from steps where step_name = '(stable)') as stable
join (from steps where step_name = '(all)') as every on every.source_id = stable.source_id
where is_above(stable.step_count, every.step_count)
