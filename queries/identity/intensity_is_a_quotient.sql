-- purpose = "Intensity is operations over bytes."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["operational_intensity"]
select
    name as subject,
    'operational_intensity.intensity_flop_per_byte' as first_figure,
    intensity_flop_per_byte as first_value,
    'operations / bytes' as second_figure,
    total_flop / nullif(total_bytes, 0) as second_value
from operational_intensity
where
    launch_count = known_launch_count
    and differs(intensity_flop_per_byte, total_flop / nullif(total_bytes, 0))
