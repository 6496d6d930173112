-- purpose = "No stream is busy for longer than its window."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["stream_utilization"]
select
    'stream ' || coalesce(cast(stream_id as varchar), '?') || ' of source ' || source_id as subject,
    'stream_utilization.busy_ns' as first_figure,
    busy_ns as first_value,
    'stream_utilization.elapsed_ns' as second_figure,
    elapsed_ns as second_value
from stream_utilization
where is_above(busy_ns, elapsed_ns)
