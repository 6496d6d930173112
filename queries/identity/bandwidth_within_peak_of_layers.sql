-- purpose = "No bandwidth in layers is above its peak (5 % for clocks)."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["layers"]
select
    layer_path as subject,
    'layers.bandwidth_ratio' as first_figure,
    bandwidth_ratio as first_value,
    '1.05' as second_figure,
    1.05 as second_value
from layers
where bandwidth_ratio > 1.05
