-- purpose = "The points of a roofline of operators: operations, traffic and time, and the time both would take at peak. Devices of one name are added up, so that rates are of one of them."
-- source = "Wang Y. E. 2020 (ParaDnn), sect. 4.2 and Fig. 3: rooflines of models and of their operations, coloured by class"
-- needs = ["op_stat"]
-- depends = ["op_figures", "run_title"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a point stands for: op (name: the same), class or run", default = "op", choices = ["op", "name", "class", "run"]}
-- level = {type = "VARCHAR", doc = "level of memory; only dram is told", default = "dram", choices = ["all", "dram", "l2", "l1"]}
-- timed = {type = "BOOLEAN", doc = "only where the time is known; operations and bytes need none", default = true}
-- ceiling = {type = "VARCHAR", doc = "compute peak: tensor_bf16, fp32 …; if not given, that of 16-bit matrix operations, else the profiler's own, else fp32", optional = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- run_name = {type = "VARCHAR", doc = "its name"}
-- name = {type = "VARCHAR", doc = "operator (with its program where several have one of that name), class or run"}
-- level_name = {type = "VARCHAR", doc = "dram"}
-- launch_count = {type = "BIGINT", doc = "how often the operators ran"}
-- known_launch_count = {type = "BIGINT", doc = "those the point is of"}
-- total_ns = {type = "BIGINT", doc = "time without the operators inside"}
-- known_ns = {type = "BIGINT", doc = "time of those the point is of"}
-- known_flop = {type = "DOUBLE", doc = "their operations"}
-- known_bytes = {type = "DOUBLE", doc = "their bytes"}
-- compute_ns = {type = "DOUBLE", doc = "operations at peak; NULL where it is not known"}
-- bandwidth_ns = {type = "DOUBLE", doc = "bytes at the peak of memory; NULL where it is not known"}
-- launch_ns = {type = "DOUBLE", doc = "NULL: the program launches its operators"}
-- reason = {type = "VARCHAR", doc = "why operators are left out"}
-- byte_definition = {type = "VARCHAR", doc = "dram (device memory), accessed (all memories), rate (x time) or mixed"}
-- device_name = {type = "VARCHAR", doc = "device; NULL if unknown"}
-- source_id = {type = "VARCHAR", doc = "NULL: a point is of all sources"}
-- event_id = {type = "BIGINT", doc = "NULL"}
-- zero_launch_count = {type = "BIGINT", doc = "of the known ones those without an operation"}
-- zero_ns = {type = "BIGINT", doc = "their time"}
-- op_class = {type = "VARCHAR", doc = "class; of several that with the most time; NULL of a run"}
WITH
figures AS (
    SELECT
        *,
        CASE
            WHEN $level NOT IN ('all', 'dram') THEN 'bytes of ' || upper($level) || ' are not told of operators'
            WHEN known_flop IS NULL THEN reason
            WHEN $timed AND coalesce(known_ns, 0) = 0 THEN CASE WHEN known_ns = 0 THEN 'duration of zero' ELSE 'duration: not known' END
        END AS lacking
    FROM op_figures($run_id, NULL, 'device', CASE $by WHEN 'name' THEN 'op' ELSE $by END, 'device', $ceiling)
),
points AS (
    SELECT
        run_id, group_name, program_name, device_name,
        arg_max(op_class, coalesce(self_ns, 0)) AS op_class,
        sum(occurrence_count) AS launch_count,
        sum(known_count) FILTER (WHERE lacking IS NULL) AS known_launch_count,
        sum(self_ns) AS total_ns,
        sum(known_ns) FILTER (WHERE lacking IS NULL) AS known_ns,
        sum(known_flop) FILTER (WHERE lacking IS NULL) AS known_flop,
        sum(known_bytes) FILTER (WHERE lacking IS NULL) AS known_bytes,
        CASE WHEN bool_and(compute_ns IS NOT NULL) FILTER (WHERE lacking IS NULL) THEN sum(compute_ns) FILTER (WHERE lacking IS NULL) END AS compute_ns,
        CASE WHEN bool_and(bandwidth_ns IS NOT NULL) FILTER (WHERE lacking IS NULL) THEN sum(bandwidth_ns) FILTER (WHERE lacking IS NULL) END AS bandwidth_ns,
        coalesce(any_value(lacking), any_value(CASE WHEN known_count < occurrence_count THEN reason END)) AS reason,
        CASE WHEN min(bytes_basis) = max(bytes_basis) THEN min(bytes_basis) WHEN min(bytes_basis) IS NOT NULL THEN 'mixed' END AS byte_definition,
        sum(zero_count) FILTER (WHERE lacking IS NULL) AS zero_launch_count,
        sum(zero_ns) FILTER (WHERE lacking IS NULL) AS zero_ns
    FROM figures
    GROUP BY run_id, group_name, program_name, device_name
)
SELECT
    points.run_id, run_title.title AS run_name,
    CASE
        WHEN $by = 'run' THEN run_title.title
        -- instructions of two programs can have one name
        WHEN count(*) OVER (PARTITION BY points.run_id, group_name, device_name) > 1 THEN group_name || ' in ' || coalesce(program_name, 'no program')
        ELSE group_name
    END AS name,
    'dram' AS level_name,
    CAST(launch_count AS BIGINT) AS launch_count,
    CAST(coalesce(known_launch_count, 0) AS BIGINT) AS known_launch_count,
    CAST(total_ns AS BIGINT) AS total_ns,
    CAST(known_ns AS BIGINT) AS known_ns,
    known_flop, known_bytes, compute_ns, bandwidth_ns, CAST(NULL AS DOUBLE) AS launch_ns, reason, byte_definition,
    device_name, CAST(NULL AS VARCHAR) AS source_id, CAST(NULL AS BIGINT) AS event_id,
    CAST(coalesce(zero_launch_count, 0) AS BIGINT) AS zero_launch_count,
    CAST(coalesce(zero_ns, 0) AS BIGINT) AS zero_ns,
    CASE WHEN $by <> 'run' THEN op_class END AS op_class
FROM points
JOIN (FROM run_title WHERE $run_id IS NULL OR run_id = $run_id) AS run_title ON run_title.run_id = points.run_id
ORDER BY points.run_id, points.total_ns DESC NULLS LAST, points.known_flop DESC NULLS LAST, name, device_name
