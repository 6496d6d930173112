-- purpose = "How busy processors were: time that cores were active, of the time they were there."
-- source = "Zhu 2018 (TBD), eq. 3: sum of active time over cores / (cores x elapsed time)"
-- needs = ["measurement"]
-- depends = ["cpu_active", "run_title", "label_value", "whole_sum", "first_reason"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what a row stands for: run, source (a file) or measurement", default = "run", choices = ["run", "source", "measurement"]}
-- cpu_count = {type = "BIGINT", doc = "CPUs of a node; if not given, as the file says, else the cores of the processor", optional = true}
-- [columns]
-- name = {type = "VARCHAR", doc = "run, file, or what was measured"}
-- utilization_ratio = {type = "DOUBLE", doc = "active_ns / (cpu_count x elapsed time), of all files"}
-- active_ns = {type = "DOUBLE", doc = "time that CPUs were active"}
-- active_cpu_count = {type = "DOUBLE", doc = "active_ns / elapsed time: CPUs that were active on average"}
-- dur_ns = {type = "BIGINT", doc = "elapsed time"}
-- cpu_count = {type = "DOUBLE", doc = "CPUs of all nodes"}
-- active_basis = {type = "VARCHAR", doc = "task-clock (of the program), times (user and system) or mperf (cycles in which a core did not sleep / of the time stamp counter)"}
-- cpu_basis = {type = "VARCHAR", doc = "given, file or processor (its cores)"}
-- source_count = {type = "BIGINT", doc = "files"}
-- reason = {type = "VARCHAR", doc = "why the utilization is NULL"}
WITH
parts AS (
    SELECT
        run_id, source_id,
        CASE WHEN $by = 'measurement' THEN measurement_index END AS part_index,
        target_name, dur_ns, cpus, cpu_basis, active_basis,
        ratio(active_ns, dur_ns * cpus) > 1.05 AS is_beyond,
        CASE WHEN NOT coalesce(is_beyond, false) THEN active_ns END AS active_ns,
        coalesce(
            reason,
            CASE
                WHEN cpus IS NULL THEN 'nobody says how many CPUs there are: give --device at ingest, or the parameter cpu_count'
                WHEN is_beyond THEN round(ratio(active_ns, dur_ns), 2) || ' CPUs were active, of ' || cpus || CASE cpu_basis WHEN 'processor' THEN ' cores: give the parameter cpu_count where a core has several' ELSE ' that are there' END
            END
        ) AS reason
    FROM cpu_active($run_id, 'measurement', $cpu_count)
),
of_source AS (
    SELECT
        run_id, source_id, part_index,
        any_value(target_name) AS target_name,
        whole_sum(dur_ns) AS dur_ns,
        whole_sum(active_ns) AS active_ns,
        whole_sum(cpus * dur_ns) AS there_ns,
        max(cpus) AS cpus,
        CASE WHEN min(active_basis) = max(active_basis) THEN min(active_basis) WHEN min(active_basis) IS NOT NULL THEN 'mixed' END AS active_basis,
        CASE WHEN min(cpu_basis) = max(cpu_basis) THEN min(cpu_basis) WHEN min(cpu_basis) IS NOT NULL THEN 'mixed' END AS cpu_basis,
        first_reason(reason, 'measurements') AS reason
    FROM parts
    GROUP BY run_id, source_id, part_index
),
grouped AS (
    SELECT
        run_id,
        CASE WHEN $by <> 'run' THEN source_id END AS owner_id,
        part_index,
        any_value(target_name) AS target_name,
        count(*) AS source_count,
        CAST(CASE WHEN count(dur_ns) = count(*) THEN max(dur_ns) END AS BIGINT) AS dur_ns,
        whole_sum(active_ns) AS active_ns,
        whole_sum(there_ns) AS there_ns,
        whole_sum(cpus) AS cpus,
        CASE WHEN min(active_basis) = max(active_basis) THEN min(active_basis) WHEN min(active_basis) IS NOT NULL THEN 'mixed' END AS active_basis,
        CASE WHEN min(cpu_basis) = max(cpu_basis) THEN min(cpu_basis) WHEN min(cpu_basis) IS NOT NULL THEN 'mixed' END AS cpu_basis,
        first_reason(reason, 'files') AS reason
    FROM of_source
    GROUP BY ALL
),
file AS (
    SELECT run_id, source_id, any_value(file_name) AS file_name FROM source_file WHERE $run_id IS NULL OR run_id = $run_id GROUP BY run_id, source_id
)
SELECT
    CASE $by WHEN 'run' THEN run_title.title WHEN 'source' THEN file_name ELSE coalesce(grouped.target_name, file_name) END AS name,
    ratio(active_ns * coalesce(nullif(label_value.label_number, 0), 1), there_ns) AS utilization_ratio,
    active_ns,
    ratio(active_ns, dur_ns) AS active_cpu_count,
    dur_ns,
    ratio(cpus, coalesce(nullif(label_value.label_number, 0), 1)) AS cpu_count,
    active_basis, cpu_basis, source_count, reason
FROM grouped
JOIN (FROM run_title WHERE $run_id IS NULL OR run_id = $run_id) AS run_title USING (run_id)
LEFT JOIN file ON file.run_id = grouped.run_id AND file.source_id = grouped.owner_id
LEFT JOIN (FROM label_value WHERE $run_id IS NULL OR run_id = $run_id) AS label_value ON $by = 'run' AND label_value.run_id = grouped.run_id AND label_value.label_name = 'ranks_per_node'
ORDER BY run_title.title, grouped.run_id, file_name, owner_id, part_index
