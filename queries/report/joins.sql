-- purpose = "The joins of timelines with counter runs: how much of each has counters, and what the matches rest on."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- needs = ["kernel_match"]
-- depends = ["kernel_launch"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "timeline run, by id; if not given, all", optional = true}
-- [columns]
-- run_name = {type = "VARCHAR", doc = "run of the timeline"}
-- counter_run_name = {type = "VARCHAR", doc = "run of the counters, as it was called when they were joined"}
-- matched_ratio = {type = "DOUBLE", doc = "share of the timeline's launches that have counters"}
-- matched_time_ratio = {type = "DOUBLE", doc = "share of its kernel time"}
-- ordered_time_ratio = {type = "DOUBLE", doc = "share of its kernel time that is matched by sequence: each launch has the counters of its own"}
-- launch_count = {type = "BIGINT", doc = "launches of the timeline"}
-- sequence_count = {type = "BIGINT", doc = "those matched by function, grid, block and place in the order of launches"}
-- shape_count = {type = "BIGINT", doc = "those matched by function, grid and block: counters are the mean of all that fit"}
-- name_count = {type = "BIGINT", doc = "those matched by function alone, as one side has no grid"}
-- counter_launch_count = {type = "BIGINT", doc = "launches that were counted"}
-- used_ratio = {type = "DOUBLE", doc = "share of these that found a place"}
-- reason = {type = "VARCHAR", doc = "why launches have no counters (that of the most launches), or what to be careful about"}
-- joined_at = {type = "TIMESTAMP", doc = "when they were joined"}
-- run_id = {type = "VARCHAR", doc = "id of the timeline's run"}
-- counter_run_id = {type = "VARCHAR", doc = "id of the counter run"}
WITH
parts AS (
    SELECT
        kernel_match.run_id, kernel_match.source_id, kernel_match.match_kind, kernel_match.reason,
        sum(launch.launch_count) AS launch_count, sum(launch.dur_ns) AS dur_ns
    FROM kernel_match
    JOIN kernel_launch AS launch
        ON launch.run_id = kernel_match.run_id AND launch.source_id = kernel_match.launch_source_id
        AND launch.event_id = kernel_match.event_id
    WHERE $run_id IS NULL OR (kernel_match.run_id = $run_id AND launch.run_id = $run_id)
    GROUP BY ALL
),
matched AS (
    SELECT
        run_id, source_id,
        CAST(sum(launch_count) AS BIGINT) AS launch_count,
        CAST(coalesce(sum(launch_count) FILTER (WHERE match_kind = 'sequence'), 0) AS BIGINT) AS sequence_count,
        CAST(coalesce(sum(launch_count) FILTER (WHERE match_kind = 'shape'), 0) AS BIGINT) AS shape_count,
        CAST(coalesce(sum(launch_count) FILTER (WHERE match_kind = 'name'), 0) AS BIGINT) AS name_count,
        ratio(coalesce(sum(dur_ns) FILTER (WHERE match_kind IS NOT NULL), 0), sum(dur_ns)) AS matched_time_ratio,
        ratio(coalesce(sum(dur_ns) FILTER (WHERE match_kind = 'sequence'), 0), sum(dur_ns)) AS ordered_time_ratio,
        arg_max(reason, launch_count) FILTER (WHERE match_kind IS NULL) AS reason
    FROM parts
    GROUP BY run_id, source_id
),
names AS (SELECT run_id, any_value(run_name) AS run_name FROM run WHERE $run_id IS NULL OR run_id = $run_id GROUP BY run_id),
told AS (FROM source_file WHERE recording_kind = 'join' AND ($run_id IS NULL OR run_id = $run_id))
SELECT
    ours.run_name, coalesce(metadata_json ->> '$.counter_run_name', told.file_name) AS counter_run_name,
    ratio(sequence_count + shape_count + name_count, launch_count) AS matched_ratio, matched_time_ratio, ordered_time_ratio,
    launch_count, sequence_count, shape_count, name_count,
    CAST(metadata_json ->> '$.counter_launch_count' AS BIGINT) AS counter_launch_count,
    CAST(metadata_json ->> '$.used_ratio' AS DOUBLE) AS used_ratio,
    nullif(concat_ws('; ',
        reason,
        array_to_string(CAST(metadata_json -> '$.warnings' AS VARCHAR[]), '; ')
    ), '') AS reason,
    make_timestamp(ingested_at_ns // 1000) AS joined_at,
    matched.run_id, told.file_name AS counter_run_id
FROM matched
JOIN told ON told.run_id = matched.run_id AND told.source_id = matched.source_id
LEFT JOIN names AS ours ON ours.run_id = matched.run_id
ORDER BY ours.run_name, counter_run_name, matched.run_id
