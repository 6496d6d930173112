-- purpose = "The shares of the operators sum to at most 1."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["ops"]
select
    'all operators' as subject,
    'ops.share_ratio, summed' as first_figure,
    share as first_value,
    '1' as second_figure,
    1 as second_value
from (select sum(share_ratio) as share from ops)
where is_above(share, 1)
