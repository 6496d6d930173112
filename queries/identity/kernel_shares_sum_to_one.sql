-- purpose = "The shares of the kernels sum to 1."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["kernel_time"]
select
    'all kernels' as subject,
    'kernel_time.share_ratio, summed' as first_figure,
    share as first_value,
    '1' as second_figure,
    1 as second_value
from (select sum(share_ratio) as share from kernel_time)
where differs(share, 1)
