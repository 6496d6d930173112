-- purpose = "Sources whose kernels count in their run: timelines; else counters with times, else
-- summaries."
-- source = "docs/metrics.md: times of different recordings are never added"
-- needs = ["source_file"]
-- depends = ["report_page"]
-- columns = "run_id source_id recording_kind page_kind is_timed is_shared"
-- recording_kind = "VARCHAR: timeline, counters or summary"
-- is_timed = "BOOLEAN: the source has times of launches, so a row without one is only of
-- counters; NULL if unknown"
with
    kinds as (
        select
            run_id,
            source_id,
            page_kind,
            page_count,
            coalesce(source_file.recording_kind, 'timeline') as kind,
            cast(source_file.metadata_json ->> '$.has_times' as boolean) as is_timed,
            case
                when kind = 'counters' and not is_timed
                then 4
                else list_position(['timeline', 'counters', 'summary'], kind)
            end as rank
        from stored_table
        join source_file using (run_id, source_id)
        join report_page using (run_id, source_id)
        where table_name = 'kernel'
    )
select
    run_id,
    source_id,
    kind as recording_kind,
    page_kind,
    is_timed,
    kind = 'counters' and sum(page_count) over (partition by run_id, kind) > 1 as is_shared
from kinds
qualify rank = min(rank) over (partition by run_id)
