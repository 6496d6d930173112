-- purpose = "The exclusive classes and idle time of a device sum to its window."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["overlap"]
select
    device_named(overlap.device_id, overlap.source_id) as subject,
    'overlap.exposed_ns, summed' as first_figure,
    exposed_ns as first_value,
    'overlap.elapsed_ns' as second_figure,
    elapsed_ns as second_value
from
    (
        select
            source_id, device_id, sum(exposed_ns) as exposed_ns, any_value(elapsed_ns) as elapsed_ns
        from overlap
        group by all
    ) as overlap
where differs(exposed_ns, elapsed_ns)
