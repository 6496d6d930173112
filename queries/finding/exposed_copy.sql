-- purpose = "Time of devices with nothing but copies or memsets running, with what is copied."
-- source = "docs/metrics.md, section overlap; pageable memory: NVIDIA, CUDA C++ Best Practices
-- Guide, section Pinned Memory"
-- needs = ["attribution"]
-- depends = ["device_time", "work_in_window"]
-- parameters = "run_id phase"
-- columns = "name win_ns copy_count copy_ns pageable_ns size_bytes elapsed_ns source_id-rank
-- device_id"
-- name = "VARCHAR: copy with the most time"
-- copy_ns = "BIGINT: sum of their durations"
-- pageable_ns = "BIGINT: part of it from or to pageable memory; NULL if none"
-- size_bytes = "BIGINT: bytes; NULL if unknown"
-- finding.title = "Copies hold up the device"
-- finding.evidence = "{copy_count:transfer}[ of {size_bytes}], {copy_ns}[, of that {pageable_ns}
-- with pageable memory]; most time in {name}"
-- finding.action = "Copy less, or begin earlier, beside compute; from a host: pin its memory
-- (pin_memory=True) and copy with non_blocking=True on a stream of its own."
-- finding.command = "query overlap"
-- finding.pool = "copy"
with
    copies as (
        select
            work.source_id,
            work.device_id,
            work.name,
            count(*) as copy_count,
            sum(work.end_ns - work.start_ns) as copy_ns,
            sum(work.end_ns - work.start_ns) filter (
                where contains(work.name, 'Pageable')
            ) as pageable_ns,
            sum(transfer.size_bytes) as size_bytes
        from work_in_window($run_id, $phase) as work
        left join
            transfer
            on transfer.run_id = $run_id
            and transfer.source_id = work.source_id
            and transfer.event_id = work.event_id
        where work.work_class in ('memcpy', 'memset')
        group by work.source_id, work.device_id, work.name
    ),
    summed as (
        select
            source_id,
            device_id,
            arg_min(name, (- copy_ns, name)) as name,
            cast(sum(copy_count) as bigint) as copy_count,
            cast(sum(copy_ns) as bigint) as copy_ns,
            cast(sum(pageable_ns) as bigint) as pageable_ns,
            cast(sum(size_bytes) as bigint) as size_bytes
        from copies
        group by source_id, device_id
    ),
    exposed as (
        select
            source_id,
            device_id,
            any_value(elapsed_ns) as elapsed_ns,
            cast(sum(exposed_ns) as bigint) as win_ns
        from device_time($run_id, $phase)
        where work_class in ('memcpy', 'memset')
        group by source_id, device_id
    )
select
    summed.name,
    exposed.win_ns,
    summed.copy_count,
    summed.copy_ns,
    summed.pageable_ns,
    summed.size_bytes,
    exposed.elapsed_ns,
    exposed.source_id,
    exposed.device_id
from exposed
join
    summed
    on summed.source_id = exposed.source_id
    and summed.device_id is not distinct from exposed.device_id
where exposed.win_ns > 0
order by win_ns desc, exposed.source_id, exposed.device_id
