-- purpose = "The ceilings of a roofline of a sweep: what the devices can do at most, with the work that was done under the peak it is held against."
-- source = "ParaDnn (Wang Y. E. 2020), Table 3 and Fig. 3; the figures by their own sources"
-- needs = ["configuration"]
-- depends = ["configuration_work", "device_ceiling", "op_machine"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- rate = {type = "VARCHAR", doc = "metric with the rate, as of configuration_roofline_points", optional = true}
-- intensity = {type = "VARCHAR", doc = "metric with the intensity or the traffic, as there", optional = true}
-- weight = {type = "VARCHAR", doc = "metric with the time, as there", optional = true}
-- ceiling = {type = "VARCHAR", doc = "compute peak: tensor_bf16, fp32 …; if not given, that of 16-bit matrix operations, else fp32", optional = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- device_name = {type = "VARCHAR", doc = "device; NULL if unknown"}
-- ceiling_kind = {type = "VARCHAR", doc = "compute or bandwidth"}
-- ceiling_name = {type = "VARCHAR", doc = "e.g. tensor_bf16, dram"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "of compute: operations"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "of bandwidth: traffic"}
-- overhead_ns = {type = "DOUBLE", doc = "NULL: no launch is known"}
-- work_flop = {type = "DOUBLE", doc = "of compute: operations of all configurations, if they are held against it"}
-- work_bytes = {type = "DOUBLE", doc = "of bandwidth: bytes of all configurations"}
-- origin_kind = {type = "VARCHAR", doc = "user, datasheet, computed or measured"}
-- source_text = {type = "VARCHAR", doc = "where the figure comes from"}
-- total_ns = {type = "BIGINT", doc = "time of the configurations on that device: one second each, or what the weight says"}
WITH
worked AS (
    SELECT run_id, source_id, sum(known_flop) AS work_flop, sum(known_bytes) AS work_bytes, sum(known_ns) AS total_ns
    FROM configuration_work($run_id, $rate, $intensity, $weight, $ceiling)
    GROUP BY run_id, source_id
),
offered AS (
    SELECT
        worked.run_id, known.device_name, known.ceiling_kind, known.ceiling_name, known.value, known.origin_kind,
        known.source_text, worked.total_ns,
        CASE WHEN known.ceiling_name = machine.ceiling_name THEN worked.work_flop WHEN known.ceiling_name = 'dram' THEN worked.work_bytes END AS work
    FROM worked
    JOIN (FROM op_machine($run_id, $ceiling) WHERE device_id IS NULL) AS machine
        ON machine.run_id = worked.run_id AND machine.source_id = worked.source_id
    JOIN (FROM device_ceiling WHERE device_id IS NULL AND ceiling_kind IN ('compute', 'bandwidth') AND ($run_id IS NULL OR run_id = $run_id)) AS known
        ON known.run_id = worked.run_id AND known.source_id = worked.source_id
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
