-- purpose = "Intervals of device work: kernels, copies and memsets, with their end."
-- source = "Zhu 2018 (TBD), eq. 1: the times at which the GPU is active"
-- needs = ["kernel", "transfer"]
-- depends = ["work_class", "mended_time"]
-- columns = "run_id source_id device_id work_class start_ns end_ns"
-- work_class = "VARCHAR: compute, communication, memcpy or memset"
with
    written as (
        select
            run_id,
            source_id,
            event_id,
            device_id,
            work_class('kernel', name, collective_name, category_name) as work_class,
            start_ns,
            dur_ns
        from kernel
        union all
        select run_id, source_id, event_id, device_id, transfer_kind, start_ns, dur_ns
        from transfer
    ),
    possible as (
        select
            written.* replace (
                case when is_mended then mended_time.start_ns else written.start_ns end as start_ns,
                case when is_mended then mended_time.dur_ns else written.dur_ns end as dur_ns
            )
        from written
        left join mended_time using (run_id, source_id, event_id)
    )
select run_id, source_id, device_id, work_class, start_ns, start_ns + dur_ns as end_ns
from possible
where start_ns is not null and dur_ns is not null
