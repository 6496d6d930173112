-- purpose = "At most all launches are joined to counters."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["joins"]
select
    counter_run_name as subject,
    'joins: launches joined' as first_figure,
    sequence_count + shape_count + name_count as first_value,
    'joins.launch_count' as second_figure,
    launch_count as second_value
from joins
where is_above(sequence_count + shape_count + name_count, launch_count)
