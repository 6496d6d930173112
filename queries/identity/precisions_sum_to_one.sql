-- purpose = "The shares of the precisions sum to 1."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["precision_mix"]
select
    name as subject,
    'precision_mix.flop_share_ratio, summed' as first_figure,
    share as first_value,
    '1' as second_figure,
    1 as second_value
from (select name, sum(flop_share_ratio) as share from precision_mix group by name)
where is_above(share, 1)
