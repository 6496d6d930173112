-- purpose = "The sources whose kernels count in their run: those of its timelines; without one those of counters, else of summaries."
-- source = "docs/metrics.md: times of different recordings are never added"
-- needs = ["source_file"]
-- depends = ["report_page"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- recording_kind = {type = "VARCHAR", doc = "timeline, counters or summary"}
-- page_kind = {type = "VARCHAR", doc = "of counters: page of the report it is"}
-- is_shared = {type = "BOOLEAN", doc = "several pages of counters in the run, which may be of the same launches"}
WITH
kinds AS (
    SELECT
        run_id, source_id, page_kind, page_count,
        coalesce(source_file.recording_kind, 'timeline') AS recording_kind
    FROM stored_table
    JOIN source_file USING (run_id, source_id)
    JOIN report_page USING (run_id, source_id)
    WHERE table_name = 'kernel'
)
SELECT
    run_id,
    source_id,
    recording_kind,
    page_kind,
    recording_kind = 'counters' AND sum(page_count) OVER (PARTITION BY run_id, recording_kind) > 1
        AS is_shared
FROM kinds
QUALIFY
    list_position(['timeline', 'counters', 'summary'], recording_kind)
    = min(list_position(['timeline', 'counters', 'summary'], recording_kind))
        OVER (PARTITION BY run_id)
