-- purpose = "The causes of idle time sum to the idle time of the device."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["gaps", "overlap"]
select
    device_named(overlap.device_id, overlap.source_id) as subject,
    'gaps.total_ns, summed' as first_figure,
    coalesce(total_ns, 0) as first_value,
    'overlap.exposed_ns of idle' as second_figure,
    exposed_ns as second_value
from (from overlap where work_class = 'idle') as overlap
left join
    (select source_id, device_id, sum(total_ns) as total_ns from gaps group by all) as gaps
    on gaps.source_id = overlap.source_id
    and gaps.device_id is not distinct from overlap.device_id
where differs(coalesce(total_ns, 0), exposed_ns)
