-- purpose = "No step is busy for longer than it lasts."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["steps"]
select
    'step ' || step_name || ' of source ' || source_id as subject,
    'steps.busy_ratio' as first_figure,
    busy_ratio as first_value,
    '1' as second_figure,
    1 as second_value
from steps
where is_above(busy_ratio, 1)
