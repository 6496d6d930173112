-- purpose = "An unknown bus_bytes_per_s of collectives has its reason."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["collectives"]
select
    collective_kind as subject,
    'collectives.bus_bytes_per_s' as first_figure,
    cast(null as double) as first_value,
    'its reason' as second_figure,
    cast(null as double) as second_value
from collectives
where bus_bytes_per_s is null and reason is null
