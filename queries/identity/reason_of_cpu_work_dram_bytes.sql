-- purpose = "An unknown dram_bytes of cpu_work has its reason."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["cpu_work"]
select
    coalesce(name, '?') as subject,
    'cpu_work.dram_bytes' as first_figure,
    cast(null as double) as first_value,
    'its reason' as second_figure,
    cast(null as double) as second_value
from cpu_work
where dram_bytes is null and bytes_reason is null
