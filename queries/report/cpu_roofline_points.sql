-- purpose = "The points of a roofline of processors: operations, traffic and time of a node, and the time both would take at peak."
-- source = "Javed 2019, sect. 2.2 and 4 (Fig. 5, 6, 8)"
-- needs = ["measurement"]
-- depends = ["cpu_group", "first_reason"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a point stands for: run, name (what was measured), launch (a measurement), interval or scope; class and phase: the run", default = "run", choices = ["run", "name", "launch", "class", "phase", "interval", "scope"]}
-- level = {type = "VARCHAR", doc = "level of memory; only dram is counted", default = "dram", choices = ["all", "dram", "l2", "l1"]}
-- timed = {type = "BOOLEAN", doc = "only where the elapsed time is known; operations and bytes need none", default = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- run_name = {type = "VARCHAR", doc = "its name"}
-- name = {type = "VARCHAR", doc = "run, what was measured, end of the interval, or scope"}
-- level_name = {type = "VARCHAR", doc = "dram"}
-- launch_count = {type = "BIGINT", doc = "files and measurements"}
-- known_launch_count = {type = "BIGINT", doc = "those the point is of"}
-- total_ns = {type = "BIGINT", doc = "elapsed time of all nodes"}
-- known_ns = {type = "BIGINT", doc = "of those the point is of"}
-- known_flop = {type = "DOUBLE", doc = "operations of all nodes"}
-- known_bytes = {type = "DOUBLE", doc = "bytes of all nodes"}
-- compute_ns = {type = "DOUBLE", doc = "operations at the peak of their precision and width; NULL where one is not known"}
-- bandwidth_ns = {type = "DOUBLE", doc = "bytes at the peak of memory; NULL where it is not known"}
-- launch_ns = {type = "DOUBLE", doc = "NULL: processors launch no kernels"}
-- reason = {type = "VARCHAR", doc = "why the point is not known"}
-- byte_definition = {type = "VARCHAR", doc = "NULL: of DRAM there is one"}
-- device_name = {type = "VARCHAR", doc = "processor; NULL if unknown"}
-- source_id = {type = "VARCHAR", doc = "of a measurement, interval or scope: source"}
-- event_id = {type = "BIGINT", doc = "of a measurement its place in the source, of an interval its number"}
-- zero_launch_count = {type = "BIGINT", doc = "of the known ones those without an operation"}
-- zero_ns = {type = "BIGINT", doc = "their time"}
WITH
parts AS (
    SELECT
        *,
        CASE WHEN $by = 'launch' THEN part_index WHEN $by = 'interval' THEN slot_index END AS place,
        CASE
            WHEN $by IN ('run', 'class', 'phase') THEN title
            WHEN $by = 'scope' THEN coalesce(slot_name, target_name, file_name)
            WHEN $by = 'interval' THEN format('{:g} s', end_ns * 1e-9)
            ELSE coalesce(target_name, file_name)
        END AS part_name,
        CASE
            WHEN $level NOT IN ('all', 'dram') THEN 'bytes of ' || upper($level) || ' are not counted on processors'
            WHEN total_flop IS NULL THEN flop_reason
            WHEN dram_bytes IS NULL THEN 'dram: ' || bytes_reason
            WHEN $timed AND node_ns IS NULL THEN 'duration: ' || time_reason
            WHEN $timed AND node_ns = 0 THEN 'duration of zero'
        END AS reason
    FROM cpu_group($run_id, CASE $by WHEN 'interval' THEN 'interval' WHEN 'scope' THEN 'scope' WHEN 'name' THEN 'measurement' WHEN 'launch' THEN 'measurement' ELSE 'run' END, 'fp32')
)
SELECT
    run_id,
    any_value(title) AS run_name,
    part_name AS name,
    'dram' AS level_name,
    count(*) AS launch_count,
    count(*) FILTER (WHERE reason IS NULL) AS known_launch_count,
    CAST(sum(node_ns) AS BIGINT) AS total_ns,
    CAST(sum(node_ns) FILTER (WHERE reason IS NULL) AS BIGINT) AS known_ns,
    sum(total_flop) FILTER (WHERE reason IS NULL) AS known_flop,
    sum(dram_bytes) FILTER (WHERE reason IS NULL) AS known_bytes,
    CASE WHEN count(compute_ns) FILTER (WHERE reason IS NULL) = count(*) FILTER (WHERE reason IS NULL) THEN sum(compute_ns) FILTER (WHERE reason IS NULL) END AS compute_ns,
    CASE WHEN count(bandwidth_ns) FILTER (WHERE reason IS NULL) = count(*) FILTER (WHERE reason IS NULL) THEN sum(bandwidth_ns) FILTER (WHERE reason IS NULL) END AS bandwidth_ns,
    CAST(NULL AS DOUBLE) AS launch_ns,
    first_reason(reason, 'measurements') AS reason,
    CAST(NULL AS VARCHAR) AS byte_definition,
    device_name,
    CASE WHEN $by IN ('launch', 'interval', 'scope') THEN owner_id END AS source_id,
    place AS event_id,
    count(*) FILTER (WHERE reason IS NULL AND total_flop = 0) AS zero_launch_count,
    CAST(coalesce(sum(node_ns) FILTER (WHERE reason IS NULL AND total_flop = 0), 0) AS BIGINT) AS zero_ns
FROM parts
GROUP BY run_id, part_name, device_name, source_id, place
ORDER BY run_id, source_id, place, total_ns DESC NULLS LAST, name, device_name
