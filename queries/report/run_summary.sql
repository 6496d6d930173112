-- purpose = "Contents of a run: its sources, their sizes, and whether they are complete."
-- source = "counts of the store's tables"
-- topic = "store"
-- needs = ["source_file"]
-- depends = ["device_known", "device_interval", "mended_time"]
-- parameters = "run_id"
-- columns = "file_name format_name rank_index device_names kernel_count-launches kernel_ns
-- transfer_count op_count step_count elapsed_ns event_count is_complete trouble_count
-- profiler_name source_id"
-- format_name = "VARCHAR: format"
-- device_names = "VARCHAR: devices with kernels or copies, from the user, the file or another
-- file of the run; '?' if none is named; without either, all named devices"
-- op_count = "framework operators"
-- step_count = "profiler steps on the host"
-- elapsed_ns = "from the first start to the last end of anything in the source"
-- is_complete = "BOOLEAN: the file is complete and undamaged"
-- trouble_count = "BIGINT: distinct warnings and errors; see `tracekit issues`"
-- profiler_name = "VARCHAR: what wrote the file"
with
    kernels as (
        select
            source_id,
            cast(sum(coalesce(launch_count, 1)) as bigint) as n,
            -- beside no rows, DuckDB 2.0.1 adds 64-bit numbers up without a look at their sum
            cast(
                sum(
                    cast(
                        case
                            when is_mended then mended_time.dur_ns else kernel.dur_ns
                        end as hugeint
                    )
                ) as bigint
            ) as total_ns
        from kernel
        left join
            (from mended_time where run_id = $run_id) as mended_time using (
                run_id, source_id, event_id
            )
        where run_id = $run_id
        group by source_id
    ),
    transfers as (
        select source_id, cast(sum(coalesce(transfer_count, 1)) as bigint) as n
        from transfer
        where run_id = $run_id
        group by source_id
    ),
    ops as (
        select source_id, count(*) as n
        from slice
        where run_id = $run_id and slice_kind = 'op'
        group by source_id
    ),
    steps as (
        select source_id, count(*) as n
        from step
        where run_id = $run_id and step_kind = 'host'
        group by source_id
    ),
    spans as (
        select source_id, start_ns, start_ns + dur_ns as end_ns
        from slice
        where run_id = $run_id
        union all
        select source_id, start_ns, end_ns
        from device_interval
        where run_id = $run_id
    ),
    elapsed as (
        select source_id, max(end_ns) - min(start_ns) as elapsed_ns
        from spans
        where end_ns is not null
        group by source_id
    ),
    used as (
        select source_id, device_id
        from kernel
        where run_id = $run_id and device_id is not null
        union
        select source_id, device_id
        from transfer
        where run_id = $run_id and device_id is not null
    ),
    known as materialized(
        select
            source_id,
            device_id,
            device_name,
            case
                when min(device_name) over source = max(device_name) over source
                then min(device_name) over source
            end as only_name
        from device_known
        where run_id = $run_id
        window source as (partition by source_id)
    ),
    -- the devices that have work; of a source without any all that are known of
    seen as (
        select used.source_id, coalesce(known.device_name, sole.only_name, '?') as device_name
        from used
        left join known on known.source_id = used.source_id and known.device_id = used.device_id
        left join
            (select distinct source_id, only_name from known) as sole
            on sole.source_id = used.source_id
        union
        select source_id, device_name
        from known
        where source_id not in (select source_id from used)
    ),
    named as (
        select source_id, string_agg(device_name, ', ' order by device_name) as device_names
        from seen
        group by source_id
    ),
    trouble as (
        select source_id, count(*) as n
        from ingest_issue
        where run_id = $run_id and severity_kind <> 'info'
        group by source_id
    )
select
    source_file.file_name,
    source_file.format_name,
    source_file.rank_index,
    named.device_names,
    coalesce(kernels.n, 0) as kernel_count,
    kernels.total_ns as kernel_ns,
    coalesce(transfers.n, 0) as transfer_count,
    coalesce(ops.n, 0) as op_count,
    coalesce(steps.n, 0) as step_count,
    elapsed.elapsed_ns,
    source_file.event_count,
    source_file.is_complete,
    coalesce(trouble.n, 0) as trouble_count,
    source_file.profiler_name,
    source_file.source_id
from source_file
left join kernels using (source_id)
left join transfers using (source_id)
left join ops using (source_id)
left join steps using (source_id)
left join elapsed using (source_id)
left join named using (source_id)
left join trouble using (source_id)
where source_file.run_id = $run_id and source_file.recording_kind is distinct from 'join'
order by source_file.rank_index nulls last, source_file.file_name, source_file.source_id
