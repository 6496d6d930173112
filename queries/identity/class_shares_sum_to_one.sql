-- purpose = "The shares of the classes of a device sum to 1."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["overlap"]
select
    device_named(overlap.device_id, overlap.source_id) as subject,
    'overlap.share_ratio, summed' as first_figure,
    share_ratio as first_value,
    '1' as second_figure,
    1 as second_value
from
    (
        select source_id, device_id, sum(share_ratio) as share_ratio from overlap group by all
    ) as overlap
where differs(share_ratio, 1)
