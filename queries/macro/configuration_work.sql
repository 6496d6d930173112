-- purpose = "What each row of a table of results does in one second, or in the time that a metric says: operations, bytes, and the device they are held against."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 3; docs/metrics.md, section Sweeps: rooflines of configurations"
-- needs = ["configuration"]
-- depends = ["configuration_metrics", "op_machine"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- wanted_rate = {type = "VARCHAR", doc = "metric with the rate; NULL: by its unit"}
-- wanted_intensity = {type = "VARCHAR", doc = "metric with the intensity or the traffic; NULL: by its unit or name"}
-- wanted_weight = {type = "VARCHAR", doc = "metric with the time; NULL: one second each"}
-- wanted_ceiling = {type = "VARCHAR", doc = "compute peak; NULL: as op_machine chooses"}
-- [columns]
-- configuration_id = {type = "BIGINT", doc = "the configuration, as in sweep_configuration"}
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source of the table"}
-- event_id = {type = "BIGINT", doc = "row of the table"}
-- name = {type = "VARCHAR", doc = "its labels in one text, if the file has them so"}
-- device_name = {type = "VARCHAR", doc = "device; NULL if unknown"}
-- total_ns = {type = "DOUBLE", doc = "the time that a metric says; NULL: none is asked for"}
-- known_ns = {type = "DOUBLE", doc = "that time, else one second; NULL where the figures are not known"}
-- known_flop = {type = "DOUBLE", doc = "operations in it"}
-- known_bytes = {type = "DOUBLE", doc = "bytes in it; NULL also where there is no operation and no intensity"}
-- flop_ns = {type = "DOUBLE", doc = "time of an operation at the compute peak of the device"}
-- byte_ns = {type = "DOUBLE", doc = "time of a byte at its bandwidth"}
-- reason = {type = "VARCHAR", doc = "why they are not known"}
WITH
chosen AS MATERIALIZED (
    SELECT
        metrics.* REPLACE (
            CASE WHEN rate_name IS NOT NULL THEN coalesce(rate_scale, ratio(peak_flop_per_s, 100)) END AS rate_scale,
            CASE WHEN moved_kind = '%' THEN ratio(peak_bytes_per_s, 100) ELSE moved_scale END AS moved_scale
        ),
        machine.device_name, ratio(1e9, machine.peak_flop_per_s) AS flop_ns, ratio(1e9, machine.peak_bytes_per_s) AS byte_ns
    FROM configuration_metrics(wanted_run, wanted_rate, wanted_intensity, wanted_weight) AS metrics
    LEFT JOIN (FROM op_machine(wanted_run, wanted_ceiling) WHERE device_id IS NULL) AS machine
        ON machine.run_id = metrics.run_id AND machine.source_id = metrics.source_id
),
-- one row per part: with one condition for all parts DuckDB compares each value with each table
parts AS (
    SELECT run_id, source_id, base_id, unnest([rate_name, moved_name, weight_name]) AS column_name, unnest([1, 2, 3]) AS part
    FROM chosen
    WHERE reason IS NULL
),
measured AS (
    SELECT
        base_id + event_id AS configuration_id,
        max(value) FILTER (WHERE part = 1) AS rate_value,
        max(value) FILTER (WHERE part = 2) AS moved_value,
        max(value) FILTER (WHERE part = 3) AS weight_value
    FROM configuration_value
    JOIN parts USING (run_id, source_id, column_name)
    WHERE role_kind = 'metric' AND value IS NOT NULL AND (wanted_run IS NULL OR run_id = wanted_run)
    GROUP BY configuration_id
),
rates AS (
    SELECT
        chosen.base_id + here.event_id AS configuration_id, chosen.run_id, chosen.source_id, here.event_id, here.name, here.status_kind,
        here.status_text, chosen.* EXCLUDE (run_id, source_id, base_id), measured.* EXCLUDE (configuration_id),
        rate_value * rate_scale AS flop_per_s,
        CASE WHEN moved_kind = 'flop/byte' THEN ratio(flop_per_s, moved_value) ELSE moved_value * moved_scale END AS bytes_per_s,
        CASE WHEN weight_name IS NULL THEN 1.0 ELSE weight_value * weight_scale * 1e-9 END AS seconds
    FROM configuration AS here
    JOIN chosen USING (run_id, source_id)
    LEFT JOIN measured ON measured.configuration_id = chosen.base_id + here.event_id
    WHERE wanted_run IS NULL OR here.run_id = wanted_run
),
judged AS (
    SELECT
        * EXCLUDE (reason),
        CASE
            WHEN status_kind = 'failed' THEN coalesce(status_text, reason, 'failed')
            WHEN reason IS NOT NULL THEN reason
            WHEN rate_value IS NULL THEN rate_name || ': not measured'
            WHEN least(rate_value, moved_value, weight_value) < 0 THEN 'less than zero'
            WHEN flop_per_s IS NULL THEN 'a percentage, and the compute peak is not known'
            WHEN seconds IS NULL THEN weight_name || ': not measured'
            WHEN seconds = 0 THEN 'duration of zero'
            WHEN seconds >= 9e9 THEN 'larger than a number can be'
            WHEN flop_per_s = 0 THEN NULL
            WHEN moved_value IS NULL THEN moved_name || ': not measured'
            WHEN moved_kind = 'flop/byte' AND moved_value = 0 THEN 'operations, and an intensity of zero'
            WHEN moved_kind = '%' AND moved_scale IS NULL THEN 'a percentage, and the bandwidth is not known'
            WHEN NOT coalesce(isfinite(flop_per_s * seconds) AND isfinite(bytes_per_s * seconds), false) THEN 'larger than a number can be'
        END AS reason
    FROM rates
)
SELECT
    configuration_id, run_id, source_id, event_id, name, device_name,
    CASE WHEN weight_name IS NOT NULL AND seconds < 9e9 THEN seconds * 1e9 END AS total_ns,
    CASE WHEN reason IS NULL THEN seconds * 1e9 END AS known_ns,
    CASE WHEN reason IS NULL THEN flop_per_s * seconds END AS known_flop,
    CASE WHEN reason IS NULL THEN bytes_per_s * seconds END AS known_bytes,
    flop_ns, byte_ns, reason
FROM judged
