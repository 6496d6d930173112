-- purpose = "The points of a roofline of a timeline's operators, layers or phases: operations and bytes (by joined counters, else modelled), the time of their kernels, and the time both would take at peak."
-- source = "Williams 2009 (Roofline), by operator; function op_model; docs/metrics.md, section Operators of a timeline"
-- needs = ["op_call"]
-- depends = ["operator_work", "run_title", "one_provenance"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- level = {type = "VARCHAR", doc = "level of memory; only of dram bytes are known by operator", default = "dram", choices = ["all", "dram", "l2", "l1"]}
-- by = {type = "VARCHAR", doc = "what a point is: an op, a layer (module) or a phase (forward, backward)", default = "op", choices = ["op", "layer", "phase"]}
-- provenance = {type = "VARCHAR", doc = "measured (counters that were joined), modelled or best: measured where there are counters", default = "best", choices = ["best", "measured", "modelled"]}
-- timed = {type = "BOOLEAN", doc = "only where the time is known; operations and bytes need none", default = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- run_name = {type = "VARCHAR", doc = "its name"}
-- name = {type = "VARCHAR", doc = "operator"}
-- level_name = {type = "VARCHAR", doc = "dram"}
-- launch_count = {type = "BIGINT", doc = "calls of the operator; where they are not known 1 in each context"}
-- known_launch_count = {type = "BIGINT", doc = "those the point is of"}
-- total_ns = {type = "BIGINT", doc = "time of the kernels, copies and sets"}
-- known_ns = {type = "BIGINT", doc = "time of those the point is of"}
-- known_flop = {type = "DOUBLE", doc = "their operations"}
-- known_bytes = {type = "DOUBLE", doc = "their least bytes"}
-- compute_ns = {type = "DOUBLE", doc = "operations at the peak of their precision; NULL where one is not known"}
-- bandwidth_ns = {type = "DOUBLE", doc = "bytes at the peak of memory; NULL where it is not known"}
-- launch_ns = {type = "DOUBLE", doc = "NULL: a call can launch several kernels"}
-- reason = {type = "VARCHAR", doc = "why calls, or kernels of them, are left out"}
-- byte_definition = {type = "VARCHAR", doc = "measured: of device memory; modelled: each input and each result once; or mixed"}
-- device_name = {type = "VARCHAR", doc = "device; NULL if unknown, or of several names"}
-- source_id = {type = "VARCHAR", doc = "NULL: a point is of all sources"}
-- event_id = {type = "BIGINT", doc = "NULL"}
-- zero_launch_count = {type = "BIGINT", doc = "of the known ones those without an operation"}
-- zero_ns = {type = "BIGINT", doc = "their time"}
-- op_class = {type = "VARCHAR", doc = "class of the operator, as other profilers have it"}
WITH
pieces AS (
    SELECT
        * REPLACE (
            coalesce(call_count, 1) AS call_count,
            CASE $by WHEN 'layer' THEN coalesce(module_path, '(no module)') WHEN 'phase' THEN coalesce(phase_kind, '(no phase)') ELSE name END AS name
        ),
        CASE family_name
            WHEN 'gemm' THEN 'matmul'
            WHEN 'attention' THEN 'attention'
            WHEN 'reduction' THEN 'reduce'
            WHEN 'pooling' THEN 'reduce'
            WHEN 'softmax' THEN 'normalisation'
            WHEN 'normalization' THEN 'normalisation'
            WHEN 'copy' THEN 'data formatting'
            WHEN 'embedding' THEN 'data formatting'
            WHEN 'convolution' THEN 'convolution'
            WHEN 'elementwise' THEN 'elementwise'
            WHEN 'collective' THEN 'collective'
            ELSE 'other'
        END AS op_class,
        CASE
            WHEN $level NOT IN ('all', 'dram') THEN 'bytes of ' || upper($level) || ' are not known by operator'
            WHEN NOT is_known THEN reason
            -- whole numbers are no floating-point work
            WHEN total_flop > 0 AND ceiling_name IS NULL THEN peak_reason
            WHEN $timed AND coalesce(work_ns, 0) = 0 THEN CASE WHEN work_ns = 0 THEN 'duration of zero' ELSE 'duration: not known' END
        END AS lacking,
        lacking IS NULL AS is_in
    FROM operator_work($run_id, 'all', $provenance)
    WHERE basis = 'kernels' AND (name IS NOT NULL OR $by <> 'op')
),
points AS (
    SELECT
        run_id, device_name, name,
        arg_max(op_class, coalesce(total_ns, 0)) AS op_class,
        sum(call_count) AS launch_count,
        coalesce(sum(call_count) FILTER (WHERE is_in), 0) AS known_launch_count,
        sum(total_ns) AS total_ns,
        sum(work_ns) FILTER (WHERE is_in) AS known_ns,
        sum(total_flop) FILTER (WHERE is_in) AS known_flop,
        sum(total_bytes) FILTER (WHERE is_in) AS known_bytes,
        CASE WHEN bool_and(compute_ns IS NOT NULL) FILTER (WHERE is_in) THEN sum(compute_ns) FILTER (WHERE is_in) END AS compute_ns,
        CASE WHEN bool_and(bandwidth_ns IS NOT NULL) FILTER (WHERE is_in) THEN sum(bandwidth_ns) FILTER (WHERE is_in) END AS bandwidth_ns,
        -- that of the most time left out; of what the point is of, that of kernels without counters
        arg_max(coalesce(lacking, reason), coalesce(total_ns - CASE WHEN is_in THEN coalesce(work_ns, 0) ELSE 0 END, 0)) AS reason,
        coalesce(sum(call_count) FILTER (WHERE is_in AND total_flop = 0), 0) AS zero_launch_count,
        coalesce(sum(work_ns) FILTER (WHERE is_in AND total_flop = 0), 0) AS zero_ns,
        coalesce(one_provenance(provenance_kind), CASE $provenance WHEN 'measured' THEN 'measured' ELSE 'modelled' END) AS byte_definition
    FROM pieces
    GROUP BY run_id, device_name, name
)
SELECT
    points.run_id, run_title.title AS run_name, points.name, 'dram' AS level_name,
    CAST(launch_count AS BIGINT) AS launch_count,
    CAST(known_launch_count AS BIGINT) AS known_launch_count,
    CAST(total_ns AS BIGINT) AS total_ns,
    CAST(known_ns AS BIGINT) AS known_ns,
    known_flop, known_bytes, compute_ns, bandwidth_ns, CAST(NULL AS DOUBLE) AS launch_ns, reason,
    byte_definition, device_name, CAST(NULL AS VARCHAR) AS source_id, CAST(NULL AS BIGINT) AS event_id,
    CAST(zero_launch_count AS BIGINT) AS zero_launch_count,
    CAST(zero_ns AS BIGINT) AS zero_ns,
    CASE WHEN $by = 'op' THEN op_class END AS op_class
FROM points
JOIN (FROM run_title WHERE $run_id IS NULL OR run_id = $run_id) AS run_title ON run_title.run_id = points.run_id
ORDER BY points.run_id, points.total_ns DESC NULLS LAST, points.known_flop DESC NULLS LAST, points.name, device_name
