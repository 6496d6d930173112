-- purpose = "The pages of a profiler's report that each source holds: the same launch can be on several."
-- source = "table source_file"
-- needs = ["source_file"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- page_count = {type = "BIGINT", doc = "pages in the source; 1 where the file has none"}
-- page_kind = {type = "VARCHAR", doc = "details, raw, text or summary; NULL for several of them, and where the file has no pages"}
SELECT
    run_id,
    source_id,
    CAST(greatest(coalesce(json_array_length(metadata_json, '$.pages'), 1), 1) AS BIGINT) AS page_count,
    CASE WHEN page_count = 1 THEN metadata_json ->> '$.pages[0]' END AS page_kind
FROM source_file
