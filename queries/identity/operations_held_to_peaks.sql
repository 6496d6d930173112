-- purpose = "The operations of operators with a time at peak are held to the ceilings of the
-- device."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["reported_op_roofline_points", "reported_op_roofline_ceilings"]
with
    points as (
        select device_name, sum(known_flop) as known_flop
        from reported_op_roofline_points
        where compute_ns is not null and known_flop > 0 and device_name is not null
        group by device_name
    ),
    ceilings as (
        select device_name, sum(work_flop) as work_flop
        from reported_op_roofline_ceilings
        group by device_name
    )
select
    points.device_name as subject,
    'reported_op_roofline_points.known_flop' as first_figure,
    known_flop as first_value,
    'reported_op_roofline_ceilings.work_flop' as second_figure,
    coalesce(work_flop, 0) as second_value
from points
join ceilings using (device_name)
where is_above(known_flop, coalesce(work_flop, 0))
