-- purpose = "Files of a run that are damaged or truncated, or whose profiler lost events."
-- source = "table ingest_issue; docs/formats.md"
-- needs = ["source_file"]
-- parameters = "run_id"
-- columns = "win_ns-none file_name issue_count lost_bytes message-issue elapsed_ns-none
-- source_id-rank device_id-none"
-- issue_count = "BIGINT: kinds of problems"
-- lost_bytes = "BIGINT: bytes of the file that gave no event"
-- message-issue = "VARCHAR: the worst problem"
-- finding.title = "The recording or its file has problems"
-- finding.evidence = "{file_name}[: {message}]"
-- finding.action = "Get a new copy or record it again before trusting sums and idle times."
-- finding.command = "issues"
-- finding.pool = "none"
with
    problems as (
        select
            source_id,
            count(*) as issue_count,
            cast(sum(lost_bytes) as bigint) as lost_bytes,
            arg_min(
                message, (severity_kind <> 'error', - occurrence_count, code, message)
            ) as message
        from ingest_issue
        where
            run_id = $run_id
            -- data_without_records tells of these
            and code <> 'launches_without_records'
            and (
                severity_kind = 'error' or (severity_kind = 'warning' and origin_kind = 'recording')
            )
        group by source_id
    )
select
    cast(null as bigint) as win_ns,
    file.file_name,
    coalesce(problems.issue_count, 0) as issue_count,
    problems.lost_bytes,
    problems.message,
    cast(null as bigint) as elapsed_ns,
    file.source_id,
    cast(null as bigint) as device_id
from source_file as file
left join problems on problems.source_id = file.source_id
where file.run_id = $run_id and (not coalesce(file.is_complete, true) or issue_count > 0)
order by issue_count desc, file.source_id
