-- purpose = "Copies of a row have the bytes, the times and the bandwidth of the rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "copies"
-- keys = ["direction_kind", "host_memory_kind", "size_class"]
-- needs = ["transfer"]
-- skips_unknown = true
with
    listed as (
        select
            if(transfer_kind = 'memset', 'memset', direction_kind) as direction_kind,
            if(
                direction_kind like '%host%',
                regexp_extract_all(
                    lower(coalesce(transfer.name, '') || coalesce(args_json, '')),
                    '(?:\(|-> |memtype":")(pageable|pinned|managed)\b',
                    1
                )[1],
                null
            ) as host_memory_kind,
            case
                when size_bytes >= 1 << 24
                then '16 MiB and more'
                when size_bytes >= 1 << 20
                then '1 MiB to 16 MiB'
                when size_bytes >= 1 << 16
                then '64 KiB to 1 MiB'
                when size_bytes >= 1 << 12
                then '4 KiB to 64 KiB'
                when size_bytes >= 0
                then '0 B to 4 KiB'
            end as size_class,
            size_bytes,
            least(transfer.dur_ns, attribution.dur_ns) as dur_ns,
            coalesce(transfer_count, 1) as copies,
            if(copies = 1, least(transfer.dur_ns, attribution.dur_ns), transfer.min_ns) as least_ns,
            if(copies = 1, least(transfer.dur_ns, attribution.dur_ns), transfer.max_ns) as most_ns
        from transfer
        left join attribution using (run_id, source_id, event_id)
        where
            run_id = $run_id
            -- sums of a tool beside the copies that it summed
            and (
                transfer_count is null
                or not exists (from transfer where run_id = $run_id and transfer_count is null)
            )
    ),
    kernels as (
        select
            -- ends that cannot be are set right where work is attributed
            coalesce(sum(coalesce(work.dur_ns, kernel.dur_ns)), 0) as all_ns,
            -- of one recording, with no other of the same launches
            count(distinct kernel.source_id) < 2 and count(*) = count(kernel.start_ns) as is_plain
        from kernel
        left join
            attribution as work
            on work.run_id = $run_id
            and work.source_id = kernel.source_id
            and work.event_id = kernel.event_id
            and work_kind = 'kernel'
        where kernel.run_id = $run_id
    )
select
    direction_kind,
    host_memory_kind,
    size_class,
    sum(size_bytes * if(dur_ns is null, null, 1))
    / nullif(sum(dur_ns * if(size_bytes is null, null, 1)), 0)
    * 1e9 as achieved_bytes_per_s,
    sum(dur_ns) as total_ns,
    sum(copies) as transfer_count,
    sum(dur_ns) / nullif(sum(sum(dur_ns)) over (), 0) as share_ratio,
    if(
        any_value(is_plain),
        sum(dur_ns) / nullif(sum(sum(dur_ns)) over () + any_value(all_ns), 0),
        null
    ) as work_share_ratio,
    max(if(copies = 1 and dur_ns > 0, size_bytes / dur_ns * 1e9, null)) as fastest_bytes_per_s,
    sum(dur_ns) / sum(if(dur_ns is null, null, copies)) as mean_ns,
    min(least_ns) as min_ns,
    max(most_ns) as max_ns,
    if(count(size_bytes) = count(*), sum(size_bytes), null) as total_bytes,
    sum(if(size_bytes is null or dur_ns is null, copies, 0)) as unknown_count
from listed
cross join kernels
group by direction_kind, host_memory_kind, size_class
