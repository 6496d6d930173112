-- purpose = "The shares of the causes sum to the idle time."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["gaps"]
select
    device_named(gaps.device_id, gaps.source_id) as subject,
    'gaps.idle_share_ratio, summed' as first_figure,
    share as first_value,
    '1' as second_figure,
    1 as second_value
from (select source_id, device_id, sum(idle_share_ratio) as share from gaps group by all) as gaps
where differs(share, 1)
