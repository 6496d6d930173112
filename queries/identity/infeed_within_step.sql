-- purpose = "A step waits for input for at most its time."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["infeed"]
select
    'source ' || source_id as subject,
    'infeed.infeed_ns' as first_figure,
    infeed_ns as first_value,
    'infeed.step_ns' as second_figure,
    step_ns as second_value
from infeed
where is_above(infeed_ns, step_ns)
