-- purpose = "The sources whose kernels count in their run: those of its timelines; without one those of counters with times, else of summaries."
-- source = "docs/metrics.md: times of different recordings are never added"
-- needs = ["source_file"]
-- depends = ["report_page"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- recording_kind = {type = "VARCHAR", doc = "timeline, counters or summary"}
-- page_kind = {type = "VARCHAR", doc = "of counters: page of the report it is"}
-- is_timed = {type = "BOOLEAN", doc = "the profiler has times of launches in it: a row without one is of counters alone; NULL where the file does not say"}
-- is_shared = {type = "BOOLEAN", doc = "several pages of counters in the run, which may be of the same launches"}
WITH
kinds AS (
    SELECT
        run_id, source_id, page_kind, page_count,
        coalesce(source_file.recording_kind, 'timeline') AS kind,
        CAST(source_file.metadata_json ->> '$.has_times' AS BOOLEAN) AS is_timed,
        CASE
            WHEN kind = 'counters' AND NOT is_timed THEN 4
            ELSE list_position(['timeline', 'counters', 'summary'], kind)
        END AS rank
    FROM stored_table
    JOIN source_file USING (run_id, source_id)
    JOIN report_page USING (run_id, source_id)
    WHERE table_name = 'kernel'
)
SELECT
    run_id,
    source_id,
    kind AS recording_kind,
    page_kind,
    is_timed,
    kind = 'counters' AND sum(page_count) OVER (PARTITION BY run_id, kind) > 1 AS is_shared
FROM kinds
QUALIFY rank = min(rank) OVER (PARTITION BY run_id)
