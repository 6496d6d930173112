-- purpose = "The parts of a step sum to at most the step."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["step_time"]
select
    step_kind || ' of source ' || source_id as subject,
    'step_time.share_ratio, summed' as first_figure,
    share as first_value,
    '1' as second_figure,
    1 as second_value
from
    (
        select source_id, device_id, step_kind, part_kind, sum(share_ratio) as share
        from step_time
        where part_kind = 'part'
        group by all
    )
where is_above(share, 1)
