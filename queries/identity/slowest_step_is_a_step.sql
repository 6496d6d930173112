-- purpose = "The slowest step of the finding takes as long as in steps."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["steps", "unstable_steps"]
select
    'step ' || slowest_step_index || ' of source ' || found.source_id as subject,
    'unstable_steps.slowest_ns' as first_figure,
    found.slowest_ns as first_value,
    'steps.elapsed_ns' as second_figure,
    told.elapsed_ns as second_value
from unstable_steps as found
join
    steps as told on told.source_id = found.source_id and told.step_index = found.slowest_step_index
where differs(found.slowest_ns, told.elapsed_ns)
