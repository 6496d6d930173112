-- purpose = "Kernels without operations are at most all launches."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["zero_ai_kernels"]
select
    'all kernels' as subject,
    'zero_ai_kernels.launch_share_ratio, summed' as first_figure,
    share as first_value,
    '1' as second_figure,
    1 as second_value
from (select sum(launch_share_ratio) as share from zero_ai_kernels)
where is_above(share, 1)
