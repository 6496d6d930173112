-- purpose = "The streams of a device sum to the time of all its work."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["stream_utilization", "overlap"]
select
    device_named(device.device_id, device.source_id) as subject,
    'stream_utilization.sum_ns, summed' as first_figure,
    streams.sum_ns as first_value,
    'overlap.sum_ns, summed' as second_figure,
    device.sum_ns as second_value
from (select source_id, device_id, sum(sum_ns) as sum_ns from overlap group by all) as device
join
    (
        select source_id, device_id, sum(sum_ns) as sum_ns from stream_utilization group by all
    ) as streams
    on streams.source_id = device.source_id
    and streams.device_id is not distinct from device.device_id
where differs(streams.sum_ns, device.sum_ns)
