-- purpose = "The ceilings of a roofline of operators: what the devices of a run can do at most, with the work that was done under the peak they are held against."
-- source = "Wang Y. E. 2020 (ParaDnn), Table 3 and Fig. 3; the figures by their own sources"
-- needs = ["op_stat"]
-- depends = ["op_figures", "op_machine", "device_ceiling"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- ceiling = {type = "VARCHAR", doc = "compute peak: tensor_bf16, fp32 …; if not given, that of 16-bit matrix operations, else the profiler's own, else fp32", optional = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- device_name = {type = "VARCHAR", doc = "device; NULL if unknown"}
-- ceiling_kind = {type = "VARCHAR", doc = "compute or bandwidth"}
-- ceiling_name = {type = "VARCHAR", doc = "e.g. tensor_bf16, dram"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "of compute: operations"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "of bandwidth: traffic"}
-- overhead_ns = {type = "DOUBLE", doc = "NULL: the program launches its operators"}
-- work_flop = {type = "DOUBLE", doc = "of compute: operations of all operators, if they are held against it"}
-- work_bytes = {type = "DOUBLE", doc = "of bandwidth: bytes of all operators"}
-- origin_kind = {type = "VARCHAR", doc = "user, datasheet, computed, measured, or reported by the profiler"}
-- source_text = {type = "VARCHAR", doc = "where the figure comes from"}
-- total_ns = {type = "BIGINT", doc = "time of the operators on that device"}
WITH
worked AS (
    SELECT run_id, source_id, device_id, sum(total_flop) AS work_flop, sum(total_bytes) AS work_bytes, sum(self_ns) AS total_ns
    FROM op_figures($run_id, NULL, 'device', 'run', 'device', $ceiling)
    GROUP BY run_id, source_id, device_id
),
offered AS (
    SELECT
        worked.run_id, known.device_name, known.ceiling_kind, known.ceiling_name, known.value, known.origin_kind,
        known.source_text, worked.total_ns,
        CASE WHEN known.ceiling_name = machine.ceiling_name THEN worked.work_flop WHEN known.ceiling_name = 'dram' THEN worked.work_bytes END AS work
    FROM worked
    JOIN op_machine($run_id, $ceiling) AS machine
        ON machine.run_id = worked.run_id AND machine.source_id = worked.source_id
        AND machine.device_id IS NOT DISTINCT FROM worked.device_id
    JOIN (FROM device_ceiling WHERE ceiling_kind IN ('compute', 'bandwidth') AND ($run_id IS NULL OR run_id = $run_id)) AS known
        ON known.run_id = worked.run_id AND known.source_id = worked.source_id
        AND known.device_id IS NOT DISTINCT FROM worked.device_id
)
SELECT
    run_id, device_name, ceiling_kind, ceiling_name,
    CASE ceiling_kind WHEN 'compute' THEN max(value) END AS peak_flop_per_s,
    CASE ceiling_kind WHEN 'bandwidth' THEN max(value) END AS peak_bytes_per_s,
    CAST(NULL AS DOUBLE) AS overhead_ns,
    CASE ceiling_kind WHEN 'compute' THEN sum(work) END AS work_flop,
    CASE ceiling_kind WHEN 'bandwidth' THEN sum(work) END AS work_bytes,
    arg_max(origin_kind, value) AS origin_kind,
    arg_max(source_text, value) AS source_text,
    CAST(sum(total_ns) AS BIGINT) AS total_ns
FROM offered
GROUP BY run_id, device_name, ceiling_kind, ceiling_name
ORDER BY run_id, device_name, ceiling_kind DESC, max(value) DESC, ceiling_name
