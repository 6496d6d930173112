-- purpose = "A rank has as many steps as its source."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["ranks", "steps"]
select
    'source ' || ranks.source_id as subject,
    'ranks.step_count' as first_figure,
    ranks.step_count as first_value,
    'steps.step_count of (all)' as second_figure,
    steps.step_count as second_value
from phase_asked, ranks
join (from steps where step_name = '(all)') as steps on steps.source_id = ranks.source_id
where phase = 'all' and ranks.step_count > 0 and differs(ranks.step_count, steps.step_count)
