-- purpose = "The ceilings of a roofline of processors: what those of a run can do at most, with the work that was done under each."
-- source = "Javed 2019, sect. 4.1 and 5.1 (Peak FLOPS 256, Peak FLOPS 512, STREAM); the figures by their own sources"
-- needs = ["measurement"]
-- depends = ["cpu_known", "device_ceiling", "counter_figures", "event_quantity", "width_ceiling"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- device_name = {type = "VARCHAR", doc = "processor; NULL if unknown"}
-- ceiling_kind = {type = "VARCHAR", doc = "compute or bandwidth"}
-- ceiling_name = {type = "VARCHAR", doc = "e.g. fp32_avx2, dram"}
-- peak_flop_per_s = {type = "DOUBLE", doc = "of compute: operations; NULL where work was done and no peak is known"}
-- peak_bytes_per_s = {type = "DOUBLE", doc = "of bandwidth: traffic"}
-- overhead_ns = {type = "DOUBLE", doc = "NULL: processors launch no kernels"}
-- work_flop = {type = "DOUBLE", doc = "of compute: operations of that precision and width in all files"}
-- work_bytes = {type = "DOUBLE", doc = "of bandwidth: bytes in all files"}
-- origin_kind = {type = "VARCHAR", doc = "user, datasheet, computed or measured"}
-- source_text = {type = "VARCHAR", doc = "where the figure comes from"}
-- total_ns = {type = "BIGINT", doc = "elapsed time of all files"}
WITH
offered AS (
    SELECT run_id, source_id, ceiling_kind, ceiling_name, value, origin_kind, source_text
    FROM device_ceiling
    WHERE device_id IS NULL AND ceiling_kind IN ('compute', 'bandwidth') AND ($run_id IS NULL OR run_id = $run_id)
),
named AS (
    SELECT run_id, source_id, list(ceiling_name) AS names FROM offered GROUP BY run_id, source_id
),
worked AS (
    SELECT
        events.run_id, events.source_id, 'compute' AS ceiling_kind,
        coalesce(width_ceiling(events.precision_name, events.width_name, names), events.precision_name) AS ceiling_name,
        sum(events.quantity) AS work
    FROM event_quantity($run_id, 'measurement', false) AS events
    LEFT JOIN named USING (run_id, source_id)
    WHERE events.quantity_kind = 'flop' AND events.precision_name IN ('fp64', 'fp32', 'fp16')
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT run_id, source_id, 'bandwidth' AS ceiling_kind, 'dram' AS ceiling_name, sum(dram_bytes) AS work
    FROM counter_figures($run_id, 'measurement')
    GROUP BY run_id, source_id
),
added AS (
    SELECT run_id, source_id, ceiling_kind, ceiling_name, sum(work) AS work
    FROM worked
    GROUP BY run_id, source_id, ceiling_kind, ceiling_name
),
times AS (
    SELECT run_id, source_id, sum(dur_ns) AS total_ns FROM measurement WHERE $run_id IS NULL OR run_id = $run_id GROUP BY run_id, source_id
),
every AS (
    SELECT run_id, source_id, ceiling_kind, ceiling_name, offered.value, offered.origin_kind, offered.source_text, added.work
    FROM offered
    FULL JOIN added USING (run_id, source_id, ceiling_kind, ceiling_name)
    WHERE offered.value IS NOT NULL OR added.work > 0
)
SELECT
    every.run_id, cpu_known.device_name, ceiling_kind, ceiling_name,
    CASE ceiling_kind WHEN 'compute' THEN max(value) END AS peak_flop_per_s,
    CASE ceiling_kind WHEN 'bandwidth' THEN max(value) END AS peak_bytes_per_s,
    CAST(NULL AS DOUBLE) AS overhead_ns,
    CASE ceiling_kind WHEN 'compute' THEN sum(work) END AS work_flop,
    CASE ceiling_kind WHEN 'bandwidth' THEN sum(work) END AS work_bytes,
    arg_max(origin_kind, value) AS origin_kind,
    arg_max(source_text, value) AS source_text,
    CAST(sum(times.total_ns) AS BIGINT) AS total_ns
FROM every
JOIN (FROM cpu_known WHERE $run_id IS NULL OR run_id = $run_id) AS cpu_known USING (run_id, source_id)
LEFT JOIN times USING (run_id, source_id)
GROUP BY every.run_id, cpu_known.device_name, ceiling_kind, ceiling_name
ORDER BY every.run_id, cpu_known.device_name, ceiling_kind DESC, max(value) DESC NULLS LAST, ceiling_name
