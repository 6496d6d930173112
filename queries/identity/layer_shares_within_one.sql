-- purpose = "The shares of the layers of a net sum to at most 1."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["layers"]
select
    coalesce(net_name, 'net ' || net_index, 'the run') as subject,
    'layers.share_ratio, summed' as first_figure,
    share as first_value,
    '1' as second_figure,
    1 as second_value
from (select net_name, net_index, sum(share_ratio) as share from layers group by all)
where is_above(share, 1)
