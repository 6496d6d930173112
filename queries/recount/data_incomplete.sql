-- purpose = "Files are incomplete, or their profiler lost events, as the issues say."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "data_incomplete"
-- keys = ["source_id"]
-- needs = ["source_file"]
with
    bad as (
        select *, if(severity_kind = 'error', 0, 1) as rank_of_kind
        from ingest_issue
        where
            run_id = $run_id
            and code <> 'launches_without_records'
            and (severity_kind = 'error' or severity_kind || origin_kind = 'warningrecording')
    )
select
    file.source_id,
    any_value(file_name) as file_name,
    count(code) as issue_count,
    sum(lost_bytes) as lost_bytes,
    first(message order by rank_of_kind, occurrence_count desc, code, message) as message
from source_file as file
left join bad on bad.source_id = file.source_id
where file.run_id = $run_id
group by file.source_id
having count(code) > 0 or any_value(is_complete) = false
