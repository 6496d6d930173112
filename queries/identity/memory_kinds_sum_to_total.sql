-- purpose = "The kinds of memory at the peak sum to all of it."
-- source = "docs/reliability.md, section Values that must agree"
-- reports = ["memory_by_kind"]
select
    device_named(device_id, source_id) as subject,
    'memory_by_kind.at_peak_bytes, summed' as first_figure,
    parts as first_value,
    'memory_by_kind.at_peak_bytes of all' as second_figure,
    total as second_value
from
    (
        select
            source_id,
            process_id,
            device_kind,
            device_id,
            sum(at_peak_bytes) filter (where not is_total) as parts,
            any_value(at_peak_bytes) filter (where is_total) as total
        from memory_by_kind
        group by all
    )
where is_above(parts, total)
