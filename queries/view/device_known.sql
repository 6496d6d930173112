-- purpose = "Every device of every source: what it is, by the user's word, the file, another file of the run, or the units, memory and clock that one known device alone has, and which known device that is. The processor that a source has measurements of is one, and what a source has operators of; of a table of results what its user says."
-- source = "tables device, op_stat, configuration, assumption and device_model, view cpu_known"
-- needs = ["device"]
-- depends = ["cpu_known", "device_key"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_id = {type = "BIGINT", doc = "device as the file numbers it; NULL where it does not"}
-- device_name = {type = "VARCHAR", doc = "name; NULL if unknown"}
-- model_name = {type = "VARCHAR", doc = "the known device of that name; NULL if there is none"}
-- compute_capability = {type = "VARCHAR", doc = "as the file says, else that of the known device"}
-- capability_major = {type = "BIGINT", doc = "what is before its point"}
WITH
given AS (
    SELECT run_id, source_id, any_value(name) AS given_name
    FROM assumption WHERE assumption_kind = 'device' GROUP BY run_id, source_id
),
-- which known device a device without a name is: as many units, as much memory (a little is kept back), the same clock
described_alike AS (
    SELECT device.run_id, device.source_id, device.device_id, min(device_model.model_name) AS model_name
    FROM device
    JOIN device_model
        ON device_model.sm_count = device.sm_count
        AND device.memory_bytes BETWEEN 0.95 * device_model.memory_bytes AND 1.01 * device_model.memory_bytes
        AND abs(1000 * TRY_CAST(device.properties_json ->> '$.clock_rate' AS DOUBLE) - device_model.boost_clock_hz) < 0.01 * device_model.boost_clock_hz
        AND (device_model.compute_capability = device.compute_capability OR lower(device_model.vendor_name) = lower(device.properties_json ->> '$.device_vendor'))
    WHERE device.name IS NULL
    GROUP BY device.run_id, device.source_id, device.device_id
    HAVING count(DISTINCT device_model.model_name) = 1
),
-- operators are of devices that are nowhere described as well, or of all of them added up
listed AS (
    SELECT
        device.run_id, device.source_id, device.device_id, coalesce(device.name, described_alike.model_name) AS name,
        device_kind, compute_capability, true AS is_listed, is_described IS NOT DISTINCT FROM false AS is_only_seen
    FROM device
    LEFT JOIN described_alike
        ON described_alike.run_id = device.run_id AND described_alike.source_id = device.source_id
        AND described_alike.device_id IS NOT DISTINCT FROM device.device_id
    UNION ALL
    SELECT run_id, source_id, device_id, NULL, NULL, NULL, false, false
    FROM op_stat WHERE side_kind = 'device' GROUP BY run_id, source_id, device_id
    UNION ALL
    SELECT run_id, source_id, NULL, NULL, NULL, NULL, false, false
    FROM assumption
    JOIN stored_table USING (run_id, source_id)
    WHERE table_name = 'configuration'
    GROUP BY run_id, source_id
),
described AS (
    SELECT
        run_id, source_id, device_id, compute_capability, device_kind IS NOT DISTINCT FROM 'cpu' AS is_cpu,
        CASE
            WHEN is_listed THEN name
            WHEN device_id IS NULL AND min(name) OVER accelerators = max(name) OVER accelerators THEN min(name) OVER accelerators
        END AS name,
        -- ROCm numbers the devices of kernels otherwise than those that it describes
        CASE
            WHEN is_only_seen AND min(name) OVER accelerators = max(name) OVER accelerators THEN min(name) OVER accelerators
        END AS name_of_all
    FROM listed
    WINDOW accelerators AS (PARTITION BY run_id, source_id, device_kind IS NOT DISTINCT FROM 'cpu')
    QUALIFY is_listed OR NOT bool_or(is_listed) OVER (PARTITION BY run_id, source_id, device_id)
),
named AS (
    SELECT
        device.run_id, device.source_id, device.device_id, device.compute_capability,
        coalesce(
            given.given_name,
            device.name,
            -- another file of the run, if all of them agree
            CASE
                WHEN min(device.name) OVER same = max(device.name) OVER same
                    AND min(device.compute_capability) OVER same
                        IS NOT DISTINCT FROM max(device.compute_capability) OVER same
                THEN min(device.name) OVER same
            END,
            device.name_of_all
        ) AS device_name
    FROM described AS device LEFT JOIN given USING (run_id, source_id)
    WINDOW same AS (PARTITION BY device.run_id, device.device_id, device.is_cpu)
)
SELECT
    named.run_id, named.source_id, named.device_id, named.device_name, device_model.model_name,
    coalesce(named.compute_capability, device_model.compute_capability) AS compute_capability,
    TRY_CAST(
        split_part(coalesce(named.compute_capability, device_model.compute_capability), '.', 1)
        AS BIGINT
    ) AS capability_major
FROM named LEFT JOIN device_model ON device_model.model_key = device_key(named.device_name)
UNION ALL
SELECT
    run_id, source_id, NULL AS device_id, device_name, model_name,
    NULL AS compute_capability, NULL AS capability_major
FROM cpu_known
