-- purpose = "An unknown intensity_flop_per_byte of operational_intensity has its reason."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["operational_intensity"]
select
    name as subject,
    'operational_intensity.intensity_flop_per_byte' as first_figure,
    cast(null as double) as first_value,
    'its reason' as second_figure,
    cast(null as double) as second_value
from operational_intensity
where intensity_flop_per_byte is null and reason is null
