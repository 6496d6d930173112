-- purpose = "The ceilings of a roofline of a timeline's operators: what its devices can do at most, with the work under each (by joined counters, else modelled)."
-- source = "Williams 2009 (Roofline); the figures by their own sources; docs/metrics.md, section Operators of a timeline"
-- needs = ["op_call"]
-- depends = ["operator_work", "device_ceiling"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- provenance = {type = "VARCHAR", doc = "measured (counters that were joined), modelled or best: measured where there are counters", default = "best", choices = ["best", "measured", "modelled"]}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- device_name = {type = "VARCHAR", doc = "device; NULL if unknown"}
-- ceiling_kind = {type = "VARCHAR", doc = "compute or bandwidth"}
-- ceiling_name = {type = "VARCHAR", doc = "e.g. tensor_bf16, dram"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "of compute: operations"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "of bandwidth: traffic"}
-- overhead_ns = {type = "DOUBLE", doc = "NULL: a call can launch several kernels"}
-- work_flop = {type = "DOUBLE", doc = "of compute: operations of the operators that are held against it"}
-- work_bytes = {type = "DOUBLE", doc = "of device memory: least bytes of all operators"}
-- origin_kind = {type = "VARCHAR", doc = "user, datasheet, computed, measured, or reported by the profiler"}
-- source_text = {type = "VARCHAR", doc = "where the figure comes from"}
-- total_ns = {type = "BIGINT", doc = "time of the operators on that device"}
WITH
work AS MATERIALIZED (
    SELECT
        run_id, device_name, ceiling_name,
        sum(total_flop) FILTER (WHERE is_known) AS work_flop, sum(total_bytes) FILTER (WHERE is_known) AS work_bytes, sum(total_ns) AS total_ns
    FROM operator_work($run_id, 'all', $provenance)
    WHERE basis = 'kernels' AND name IS NOT NULL
    GROUP BY run_id, device_name, ceiling_name
),
devices AS (
    SELECT run_id, device_name, sum(work_bytes) AS work_bytes, sum(total_ns) AS total_ns
    FROM work
    GROUP BY run_id, device_name
),
offered AS (
    SELECT run_id, device_name, ceiling_kind, ceiling_name, max(value) AS value, arg_max(origin_kind, value) AS origin_kind, arg_max(source_text, value) AS source_text
    FROM device_ceiling
    WHERE ceiling_kind IN ('compute', 'bandwidth') AND ($run_id IS NULL OR run_id = $run_id)
    GROUP BY run_id, device_name, ceiling_kind, ceiling_name
)
SELECT
    devices.run_id, devices.device_name, offered.ceiling_kind, offered.ceiling_name,
    CASE offered.ceiling_kind WHEN 'compute' THEN value END AS peak_flop_per_s,
    CASE offered.ceiling_kind WHEN 'bandwidth' THEN value END AS peak_bytes_per_s,
    CAST(NULL AS DOUBLE) AS overhead_ns,
    CASE offered.ceiling_kind WHEN 'compute' THEN work.work_flop END AS work_flop,
    CASE WHEN offered.ceiling_kind = 'bandwidth' AND offered.ceiling_name = 'dram' THEN devices.work_bytes END AS work_bytes,
    origin_kind, source_text,
    CAST(devices.total_ns AS BIGINT) AS total_ns
FROM devices
JOIN offered ON offered.run_id = devices.run_id AND offered.device_name IS NOT DISTINCT FROM devices.device_name
LEFT JOIN work
    ON work.run_id = devices.run_id AND work.device_name IS NOT DISTINCT FROM devices.device_name
    AND work.ceiling_name = offered.ceiling_name
ORDER BY devices.run_id, devices.device_name, offered.ceiling_kind DESC, value DESC, offered.ceiling_name
