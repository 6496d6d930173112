-- purpose = "The directions of copies sum to the copies of all devices."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["copies", "overlap"]
select
    'all copies' as subject,
    'copies.total_ns, summed' as first_figure,
    copies.ns as first_value,
    'overlap.sum_ns of memcpy' as second_figure,
    overlap.ns as second_value
from
    (
        select sum(total_ns) as ns, sum(transfer_count) as transfer_count
        from copies
        where direction_kind <> 'memset'
    ) as copies,
    (
        select sum(sum_ns) as ns, sum(work_count) as work_count
        from overlap
        where work_class = 'memcpy'
    ) as overlap
where
    is_above(copies.ns, overlap.ns)
    -- what ran outside of all marks is in no class
    and copies.transfer_count = overlap.work_count
