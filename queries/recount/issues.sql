-- purpose = "Problems are those that ingest found."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "issues"
-- keys = ["file_name", "code", "message"]
-- needs = ["ingest_issue"]
-- is_partial = true
select
    file_name,
    code,
    message,
    min(severity_kind) as severity_kind,
    min(occurrence_count) as occurrence_count,
    min(ingest_issue.skipped_event_count) as skipped_event_count,
    min(ingest_issue.lost_bytes) as lost_bytes,
    min(first_offset_bytes) as first_offset_bytes,
    min(origin_kind) as origin_kind
from ingest_issue
join source_file using (run_id, source_id)
where run_id = $run_id
group by file_name, code, message
having count(*) = 1
