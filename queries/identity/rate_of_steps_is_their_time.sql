-- purpose = "Steps per second times the mean step is 1."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["steps"]
select
    'step ' || step_name || ' of source ' || source_id as subject,
    'steps.steps_per_s x mean_ns' as first_figure,
    steps_per_s * mean_ns / 1e9 as first_value,
    '1' as second_figure,
    1 as second_value
from steps
where step_index is null and abs(steps_per_s * mean_ns / 1e9 - 1) > 0.01
