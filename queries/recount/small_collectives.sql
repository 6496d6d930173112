-- purpose = "Small collectives of a group take longer than their longest, as far as nothing else
-- runs."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "small_collectives"
-- keys = ["source_id", "device_id", "collective_kind", "call_count", "size_bytes"]
-- needs = ["kernel", "attribution", "source_file"]
-- upon = "classed_work"
with
    exposed as (
        select source_id, device_id, sum(more_ns) - sum(more_compute_ns) as exposed_ns
        from classed_work
        group by source_id, device_id
    ),
    small as (
        select
            source_id,
            device_id,
            collective_kind,
            group_text,
            count(*) as call_count,
            sum(size_bytes) as size_bytes,
            sum(dur_ns) as total_ns,
            max(dur_ns) as longest_ns
        from numbered_collective
        where size_bytes < 1000000
        group by all
    )
select
    source_id,
    device_id,
    collective_kind,
    call_count,
    size_bytes,
    total_ns,
    least(total_ns - longest_ns, exposed_ns) as win_ns
from small
join exposed using (source_id, device_id)
where call_count >= 4 and win_ns > 0
