-- purpose = "Kernels on devices that no file names, or whose peaks are unknown, so that nothing can
-- be compared with them."
-- source = "docs/metrics.md, sections Ceilings and Findings"
-- needs = ["attribution"]
-- depends = ["device_work", "device_known", "device_peak"]
-- parameters = "run_id lacking_ratio"
-- columns = "win_ns-none unknown_ratio-peaks total_ns-kernels reason-peaks elapsed_ns-none
-- source_id-rank device_id-none"
-- unknown_ratio-peaks = "DOUBLE: share of total_ns on devices without peaks"
-- reason-peaks = "VARCHAR: why they are unknown, for most of the time"
-- finding.title = "Peaks of the device are unknown"
-- finding.evidence = "{unknown_ratio} of the kernel time ({total_ns}): {reason}; rooflines and
-- products that could use tensor cores were not looked at"
-- finding.action = "If no file names the device, name it at ingest (--device; tracekit devices
-- lists
-- those known); else give its peaks (--peaks)."
-- finding.command = "summary"
-- finding.pool = "none"
with
    spent as (
        select
            work.source_id,
            peaks.dram_bytes_per_s is null as is_lacking,
            coalesce(
                'no peaks are known of ' || known.device_name, 'no file names the device'
            ) as reason,
            sum(work.end_ns - work.start_ns) as sum_ns
        from device_work as work
        left join
            device_known as known
            on known.run_id = $run_id
            and known.source_id = work.source_id
            and known.device_id is not distinct from work.device_id
        left join
            device_peak as peaks
            on peaks.run_id = $run_id
            and peaks.source_id = work.source_id
            and peaks.device_id is not distinct from work.device_id
        where work.run_id = $run_id and work.work_kind = 'kernel'
        group by all
    )
select
    cast(null as bigint) as win_ns,
    ratio(coalesce(sum(sum_ns) filter (where is_lacking), 0), sum(sum_ns)) as unknown_ratio,
    cast(sum(sum_ns) as bigint) as total_ns,
    arg_min(reason, (- sum_ns, reason)) filter (where is_lacking) as reason,
    cast(null as bigint) as elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from spent
group by source_id
having unknown_ratio >= $lacking_ratio
order by unknown_ratio desc, source_id
