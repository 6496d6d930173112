-- purpose = "The runs in the store, newest first."
-- source = "tables run, run_label, source_file"
-- needs = ["source_file"]
-- depends = ["kernel_launch"]
-- [columns]
-- run_name = {type = "VARCHAR", doc = "name given with --run, else the file's name"}
-- source_count = {type = "BIGINT", doc = "files in the run"}
-- labels = {type = "VARCHAR", doc = "labels as name=value; NULL if none"}
-- event_count = {type = "BIGINT", doc = "events in its files"}
-- kernel_count = {type = "BIGINT", doc = "kernel launches"}
-- kernel_ns = {type = "BIGINT", doc = "sum of kernel durations; NULL without kernels"}
-- is_complete = {type = "BOOLEAN", doc = "every file is whole and undamaged"}
-- ingested_at = {type = "TIMESTAMP", doc = "when the last file came in, UTC"}
-- run_id = {type = "VARCHAR", doc = "id, for --run where a name is not unique"}
WITH
sources AS (
    SELECT
        run_id,
        count(*) AS source_count,
        CAST(sum(event_count) AS BIGINT) AS event_count,
        bool_and(is_complete) AS is_complete,
        max(ingested_at_ns) AS ingested_at_ns
    FROM source_file
    WHERE recording_kind IS DISTINCT FROM 'join'
    GROUP BY run_id
),
names AS (SELECT run_id, any_value(run_name) AS run_name FROM run GROUP BY run_id),
labels AS (
    SELECT run_id, string_agg(DISTINCT label_name || '=' || value, ' ' ORDER BY label_name || '=' || value)
        AS labels
    FROM run_label GROUP BY run_id
),
kernels AS (
    SELECT run_id, CAST(sum(launch_count) AS BIGINT) AS n, CAST(sum(dur_ns) AS BIGINT) AS total_ns
    FROM kernel_launch GROUP BY run_id
)
SELECT
    names.run_name,
    sources.source_count,
    labels.labels,
    sources.event_count,
    coalesce(kernels.n, 0) AS kernel_count,
    kernels.total_ns AS kernel_ns,
    sources.is_complete,
    make_timestamp(sources.ingested_at_ns // 1000) AS ingested_at,
    run_id
FROM sources
JOIN names USING (run_id)
LEFT JOIN labels USING (run_id)
LEFT JOIN kernels USING (run_id)
ORDER BY sources.ingested_at_ns DESC, run_id
