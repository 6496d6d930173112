-- purpose = "The classes of short and long kernels have all launches."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["short_kernels"]
select
    'all launches' as subject,
    'short_kernels.launch_ratio, summed' as first_figure,
    share as first_value,
    '1' as second_figure,
    1 as second_value
from (select sum(launch_ratio) as share from short_kernels)
where differs(share, 1)
