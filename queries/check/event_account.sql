-- purpose = "Every event of a source has a row or is counted as skipped: rows + skips = events."
-- source = "docs/formats.md: the account"
-- needs = ["source_file"]
-- [columns]
-- source_id = {type = "VARCHAR", doc = "source whose account does not add up"}
-- event_count = {type = "BIGINT", doc = "events in the file"}
-- row_count = {type = "BIGINT", doc = "events with a row"}
-- skipped_count = {type = "BIGINT", doc = "events counted as skipped"}
WITH
places AS (
    SELECT source_id, event_id FROM kernel
    UNION ALL SELECT source_id, event_id FROM kernel_rule
    UNION ALL SELECT source_id, event_id FROM transfer
    UNION ALL SELECT source_id, event_id FROM slice
    UNION ALL SELECT source_id, event_id FROM flow
    UNION ALL SELECT source_id, event_id FROM memory_event
    UNION ALL SELECT source_id, event_id FROM track_label
    UNION ALL SELECT source_id, event_id FROM layer_stat
    UNION ALL SELECT source_id, event_id FROM configuration
    -- those without a place were worked out from rows that are counted already
    UNION ALL SELECT source_id, event_id FROM op_stat WHERE event_id IS NOT NULL
    UNION ALL SELECT DISTINCT source_id, event_id FROM step_part WHERE event_id IS NOT NULL
    -- a counter event gives a row for each of its series
    UNION ALL SELECT DISTINCT source_id, event_id FROM counter
),
counted AS (SELECT source_id, count(*) AS n FROM places GROUP BY source_id)
SELECT
    source_file.source_id,
    source_file.event_count,
    coalesce(counted.n, 0) AS row_count,
    source_file.skipped_event_count AS skipped_count
FROM source_file LEFT JOIN counted USING (source_id)
WHERE coalesce(counted.n, 0) + source_file.skipped_event_count
    IS DISTINCT FROM source_file.event_count
ORDER BY source_file.source_id
