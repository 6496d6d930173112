-- purpose = "Copies by size are those of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "copies"
-- keys = ["size_class"]
-- needs = ["transfer"]
-- is_sum = true
select
    case
        when size_bytes < 4 * 1024
        then '0 B to 4 KiB'
        when size_bytes < 64 * 1024
        then '4 KiB to 64 KiB'
        when size_bytes < 1024 * 1024
        then '64 KiB to 1 MiB'
        when size_bytes < 16 * 1024 * 1024
        then '1 MiB to 16 MiB'
        when size_bytes is not null
        then '16 MiB and more'
    end as size_class,
    least(transfer.dur_ns, attribution.dur_ns) as total_ns,
    size_bytes as total_bytes,
    total_ns / sum(least(transfer.dur_ns, attribution.dur_ns)) over () as share_ratio
from transfer
left join attribution using (run_id, source_id, event_id)
where run_id = $run_id
