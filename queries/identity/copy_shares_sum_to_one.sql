-- purpose = "The shares of the copies sum to 1."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["copies"]
select
    'all copies' as subject,
    'copies.share_ratio, summed' as first_figure,
    share as first_value,
    '1' as second_figure,
    1 as second_value
from (select sum(share_ratio) as share from copies)
where is_above(share, 1)
