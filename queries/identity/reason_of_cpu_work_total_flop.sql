-- purpose = "An unknown total_flop of cpu_work has its reason."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["cpu_work"]
select
    coalesce(name, '?') as subject,
    'cpu_work.total_flop' as first_figure,
    cast(null as double) as first_value,
    'its reason' as second_figure,
    cast(null as double) as second_value
from cpu_work
where total_flop is null and flop_reason is null
