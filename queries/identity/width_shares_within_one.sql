-- purpose = "The shares of the vector widths sum to at most 1."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["fp_width_mix"]
select
    coalesce(name, '?') as subject,
    'fp_width_mix.flop_share_ratio, summed' as first_figure,
    share as first_value,
    '1' as second_figure,
    1 as second_value
from (select name, run_id, sum(flop_share_ratio) as share from fp_width_mix group by all)
where is_above(share, 1)
