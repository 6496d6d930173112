-- purpose = "Problems found during ingest: damage, lost data, and facts that affect the rows."
-- source = "table ingest_issue; view peak_conflict: profiler peaks that differ from the data sheet;
-- view device_known: where --device is ignored"
-- topic = "store"
-- needs = ["source_file"]
-- depends = ["peak_conflict", "device_known"]
-- parameters = "run_id"
-- run_id = "run; NULL for every run"
-- columns = "severity_kind message file_name run_name occurrence_count skipped_event_count
-- lost_bytes first_offset_bytes advice origin_kind code"
-- severity_kind = "VARCHAR: error (data was lost), warning or info"
-- message = "VARCHAR: what was found"
-- occurrence_count = "how often"
-- skipped_event_count = "BIGINT: events without a row because of it"
-- lost_bytes = "BIGINT: bytes that gave no event"
-- first_offset_bytes = "BIGINT: first offset in the decompressed content"
-- advice = "VARCHAR: what to do about it"
-- origin_kind = "recording (by the profiler) or import (by tracekit)"
-- code = "VARCHAR: short name of the issue"
with
    met as (
        select
            run_id,
            source_id,
            severity_kind,
            message,
            occurrence_count,
            skipped_event_count,
            lost_bytes,
            first_offset_bytes,
            nullif(advice, '') as advice,
            origin_kind,
            code
        from ingest_issue
        union all by name
        select
            run_id,
            source_id,
            'info' as severity_kind,
            printf(
                'the profiler''s own peak of %s is %.4g %s, %.2f of what is known of %s '
                || '(%.4g): what is known counts',
                case ceiling_kind when 'compute' then 'compute' else 'device memory' end,
                reported_value,
                case ceiling_kind when 'compute' then 'FLOP/s' else 'B/s' end,
                reported_ratio,
                model_name,
                value
            ) as message,
            count(*) as occurrence_count,
            0 as skipped_event_count,
            0 as lost_bytes,
            'if you know its peaks, give them with --peaks' as advice,
            'recording' as origin_kind,
            'reported_peak' as code
        from peak_conflict
        group by run_id, source_id, model_name, ceiling_kind, value, reported_value, reported_ratio
        union all by name
        select
            run_id,
            source_id,
            'info' as severity_kind,
            printf(
                '--device %s is ignored: %s',
                ignored_name,
                coalesce('the device is ' || device_name, 'the file is not of such a device')
            ) as message,
            count(*) as occurrence_count,
            0 as skipped_event_count,
            0 as lost_bytes,
            'if you know its peaks, give them with --peaks, without --device' as advice,
            'import' as origin_kind,
            'ignored_device' as code
        from
            (
                select
                    *,
                    bool_or(ignored_name is null and device_name is not null) over (
                        partition by run_id, source_id
                    ) as is_used
                from device_known
            )
        -- a host beside the device that has the name is not told
        where ignored_name is not null and (device_name is not null or not is_used)
        group by run_id, source_id, ignored_name, device_name
    )
select
    met.severity_kind,
    met.message,
    source_file.file_name,
    run.run_name,
    met.occurrence_count,
    met.skipped_event_count,
    met.lost_bytes,
    met.first_offset_bytes,
    met.advice,
    met.origin_kind,
    met.code
from met
join source_file using (run_id, source_id)
join (select run_id, any_value(run_name) as run_name from run group by run_id) as run using (run_id)
where $run_id is null or met.run_id = $run_id
order by
    list_position(['error', 'warning', 'info'], met.severity_kind),
    run.run_name,
    source_file.file_name,
    met.code,
    met.message,
    met.run_id,
    met.source_id,
    met.first_offset_bytes,
    met.advice
