-- purpose = "The share of waiting for a rank is the same in the finding and in stragglers."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["stragglers", "waiting_for_rank"]
select
    'rank ' || found.last_rank_index as subject,
    'waiting_for_rank.lost_ratio' as first_figure,
    any_value(found.lost_ratio) as first_value,
    'stragglers.lost_ratio' as second_figure,
    max(told.lost_ratio) as second_value
from waiting_for_rank as found
join stragglers as told on told.rank_index = found.last_rank_index
group by found.last_rank_index
having differs(any_value(found.lost_ratio), max(told.lost_ratio))
