-- purpose = "Steps lose no more to the host than their parts say."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["step_overhead", "step_time"]
select
    device_named(found.device_id, found.source_id) as subject,
    'step_overhead.win_ns' as first_figure,
    found.win_ns as first_value,
    'step_time.total_ns of parts, summed' as second_figure,
    sum(told.total_ns) as second_value
from step_overhead as found
left join
    step_time as told
    on told.source_id = found.source_id
    and told.device_id is not distinct from found.device_id
    and told.part_name is not null
group by found.device_id, found.source_id, found.win_ns
having is_above(found.win_ns, coalesce(sum(told.total_ns), 0))
