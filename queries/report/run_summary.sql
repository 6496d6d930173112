-- purpose = "What a run holds: its sources, how much is in each, and whether they are whole."
-- source = "counts of the store's tables"
-- needs = ["source_file"]
-- depends = ["device_known"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- [columns]
-- file_name = {type = "VARCHAR", doc = "file"}
-- format_name = {type = "VARCHAR", doc = "format"}
-- rank_index = {type = "BIGINT", doc = "rank; NULL where the file does not say"}
-- device_names = {type = "VARCHAR", doc = "devices with kernels, by the user's word, the file or another file of the run; '?' where none names one; without kernels all that are named"}
-- kernel_count = {type = "BIGINT", doc = "kernel launches"}
-- kernel_ns = {type = "BIGINT", doc = "sum of kernel durations; NULL without kernels"}
-- transfer_count = {type = "BIGINT", doc = "copies and sets"}
-- op_count = {type = "BIGINT", doc = "framework operators"}
-- step_count = {type = "BIGINT", doc = "profiler steps on the host"}
-- elapsed_ns = {type = "BIGINT", doc = "from the first start to the last end of anything in the source"}
-- event_count = {type = "BIGINT", doc = "events in the file"}
-- is_complete = {type = "BOOLEAN", doc = "the file is whole and undamaged"}
-- trouble_count = {type = "BIGINT", doc = "kinds of trouble (warnings and errors); see `tracekit issues`"}
-- profiler_name = {type = "VARCHAR", doc = "what wrote the file"}
-- source_id = {type = "VARCHAR", doc = "source"}
WITH
kernels AS (
    SELECT
        source_id,
        CAST(sum(coalesce(launch_count, 1)) AS BIGINT) AS n,
        CAST(sum(dur_ns) AS BIGINT) AS total_ns
    FROM kernel WHERE run_id = $run_id GROUP BY source_id
),
transfers AS (
    SELECT source_id, count(*) AS n FROM transfer WHERE run_id = $run_id GROUP BY source_id
),
ops AS (
    SELECT source_id, count(*) AS n
    FROM slice WHERE run_id = $run_id AND slice_kind = 'op' GROUP BY source_id
),
steps AS (
    SELECT source_id, count(*) AS n
    FROM step WHERE run_id = $run_id AND step_kind = 'host' GROUP BY source_id
),
spans AS (
    SELECT source_id, start_ns, start_ns + dur_ns AS end_ns FROM slice WHERE run_id = $run_id
    UNION ALL
    SELECT source_id, start_ns, start_ns + dur_ns FROM kernel WHERE run_id = $run_id
    UNION ALL
    SELECT source_id, start_ns, start_ns + dur_ns FROM transfer WHERE run_id = $run_id
),
elapsed AS (
    SELECT source_id, max(end_ns) - min(start_ns) AS elapsed_ns
    FROM spans WHERE end_ns IS NOT NULL GROUP BY source_id
),
used AS (
    SELECT DISTINCT source_id, device_id FROM kernel
    WHERE run_id = $run_id AND device_id IS NOT NULL
),
known AS MATERIALIZED (
    SELECT
        source_id, device_id, device_name,
        CASE WHEN min(device_name) OVER source = max(device_name) OVER source THEN min(device_name) OVER source END AS only_name
    FROM device_known
    WHERE run_id = $run_id
    WINDOW source AS (PARTITION BY source_id)
),
-- the devices that have kernels; of a source without any all that are known of
seen AS (
    SELECT used.source_id, coalesce(known.device_name, sole.only_name, '?') AS device_name
    FROM used
    LEFT JOIN known ON known.source_id = used.source_id AND known.device_id = used.device_id
    LEFT JOIN (SELECT DISTINCT source_id, only_name FROM known) AS sole ON sole.source_id = used.source_id
    UNION
    SELECT source_id, device_name FROM known
    WHERE source_id NOT IN (SELECT source_id FROM used)
),
named AS (
    SELECT source_id, string_agg(device_name, ', ' ORDER BY device_name) AS device_names
    FROM seen
    GROUP BY source_id
),
trouble AS (
    SELECT source_id, count(*) AS n
    FROM ingest_issue WHERE run_id = $run_id AND severity_kind <> 'info' GROUP BY source_id
)
SELECT
    source_file.file_name,
    source_file.format_name,
    source_file.rank_index,
    named.device_names,
    coalesce(kernels.n, 0) AS kernel_count,
    kernels.total_ns AS kernel_ns,
    coalesce(transfers.n, 0) AS transfer_count,
    coalesce(ops.n, 0) AS op_count,
    coalesce(steps.n, 0) AS step_count,
    elapsed.elapsed_ns,
    source_file.event_count,
    source_file.is_complete,
    coalesce(trouble.n, 0) AS trouble_count,
    source_file.profiler_name,
    source_file.source_id
FROM source_file
LEFT JOIN kernels USING (source_id)
LEFT JOIN transfers USING (source_id)
LEFT JOIN ops USING (source_id)
LEFT JOIN steps USING (source_id)
LEFT JOIN elapsed USING (source_id)
LEFT JOIN named USING (source_id)
LEFT JOIN trouble USING (source_id)
WHERE source_file.run_id = $run_id AND source_file.recording_kind IS DISTINCT FROM 'join'
ORDER BY source_file.rank_index NULLS LAST, source_file.file_name
