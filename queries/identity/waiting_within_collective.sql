-- purpose = "Ranks wait in a collective for at most its time."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["collectives"]
select
    collective_kind as subject,
    'collectives.wait_ns' as first_figure,
    wait_ns as first_value,
    'collectives.total_ns' as second_figure,
    total_ns as second_value
from collectives
where is_above(wait_ns, total_ns)
