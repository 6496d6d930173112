-- purpose = "The counter that ran least is the one that counter_quality lists."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["counter_quality", "data_multiplexed"]
select
    found.event_name as subject,
    'data_multiplexed.running_ratio' as first_figure,
    found.running_ratio as first_value,
    'counter_quality.running_ratio' as second_figure,
    min(told.running_ratio) as second_value
from data_multiplexed as found
join counter_quality as told on told.event_name = found.event_name
group by found.event_name, found.running_ratio
having is_above(min(told.running_ratio), found.running_ratio)
