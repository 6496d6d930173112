-- purpose = "The shares of the reported operators of a device sum to at most 1."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["reported_op_by_category"]
select
    device_named(device_id, source_id) as subject,
    'reported_op_by_category.share_ratio, summed' as first_figure,
    share as first_value,
    '1' as second_figure,
    1 as second_value
from
    (
        select source_id, device_id, op_kind, sum(share_ratio) as share
        from reported_op_by_category
        group by all
    )
where is_above(share, 1)
