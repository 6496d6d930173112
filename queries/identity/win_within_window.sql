-- purpose = "No finding can win more than all of the time."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["advise"]
select
    title as subject,
    'advise.win_ratio' as first_figure,
    win_ratio as first_value,
    '1' as second_figure,
    1 as second_value
from advise
where is_above(win_ratio, 1) or win_ratio < 0
