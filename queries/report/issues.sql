-- purpose = "Problems found during ingest: damage, lost data, and facts that affect the rows."
-- source = "table ingest_issue; view peak_conflict: profiler peaks that differ from the data sheet"
-- topic = "store"
-- needs = ["source_file"]
-- depends = ["peak_conflict"]
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
            'if it is another device, name it with --device; if you know its peaks, give '
            || 'them with --peaks' as advice,
            'recording' as origin_kind,
            'reported_peak' as code
        from peak_conflict
        group by run_id, source_id, model_name, ceiling_kind, value, reported_value, reported_ratio
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
