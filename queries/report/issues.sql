-- purpose = "What the ingest met: damage, loss, and facts a reader of the rows must know."
-- source = "table ingest_issue; view peak_conflict: peaks of the profiler that are far from those of the data sheet"
-- needs = ["source_file"]
-- depends = ["peak_conflict"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for every run"}
-- [columns]
-- severity_kind = {type = "VARCHAR", doc = "error (data was lost), warning or info"}
-- message = {type = "VARCHAR", doc = "what was found"}
-- file_name = {type = "VARCHAR", doc = "file"}
-- run_name = {type = "VARCHAR", doc = "run"}
-- occurrence_count = {type = "BIGINT", doc = "how often"}
-- skipped_event_count = {type = "BIGINT", doc = "events without a row because of it"}
-- lost_bytes = {type = "BIGINT", doc = "bytes that gave no event"}
-- first_offset_bytes = {type = "BIGINT", doc = "where it first occurs in the decompressed content"}
-- advice = {type = "VARCHAR", doc = "what to do about it"}
-- origin_kind = {type = "VARCHAR", doc = "recording (the profiler's) or import (ours)"}
-- code = {type = "VARCHAR", doc = "short name of the issue"}
WITH
met AS (
    SELECT
        run_id, source_id, severity_kind, message, occurrence_count, skipped_event_count, lost_bytes,
        first_offset_bytes, nullif(advice, '') AS advice, origin_kind, code
    FROM ingest_issue
    UNION ALL BY NAME
    SELECT
        run_id, source_id, 'info' AS severity_kind,
        printf(
            'the profiler''s own peak of %s is %.4g %s, %.2f of what is known of %s (%.4g): what is known counts',
            CASE ceiling_kind WHEN 'compute' THEN 'compute' ELSE 'device memory' END, reported_value,
            CASE ceiling_kind WHEN 'compute' THEN 'FLOP/s' ELSE 'B/s' END, reported_ratio, model_name, value
        ) AS message,
        count(*) AS occurrence_count, 0 AS skipped_event_count, 0 AS lost_bytes,
        'if it is another device, name it with --device; if you know its peaks, give them with --peaks' AS advice,
        'recording' AS origin_kind, 'reported_peak' AS code
    FROM peak_conflict
    GROUP BY run_id, source_id, model_name, ceiling_kind, value, reported_value, reported_ratio
)
SELECT
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
FROM met
JOIN source_file USING (run_id, source_id)
JOIN (SELECT run_id, any_value(run_name) AS run_name FROM run GROUP BY run_id) AS run USING (run_id)
WHERE $run_id IS NULL OR met.run_id = $run_id
ORDER BY
    list_position(['error', 'warning', 'info'], met.severity_kind),
    run.run_name, source_file.file_name, met.code, met.message
