-- purpose = "The processor of every source with measurements of one, as perf stat makes them: what it is, as far as the user says."
-- source = "tables measurement, assumption, device_model and cpu_family"
-- needs = ["measurement"]
-- depends = ["device_key"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- device_name = {type = "VARCHAR", doc = "name; NULL if unknown"}
-- model_name = {type = "VARCHAR", doc = "the known processor of that name; NULL if there is none, or if a GPU has that name"}
-- vendor_name = {type = "VARCHAR", doc = "whose events it has: that of its architecture (Arm for a core of Arm's, whoever makes the processor), else by the user's word, else that of the known processor"}
-- architecture_name = {type = "VARCHAR", doc = "e.g. skylake-server; by the user's word, else that of the known processor"}
-- core_count = {type = "BIGINT", doc = "cores of all its sockets; as above"}
WITH
said AS (
    SELECT
        run_id, source_id,
        any_value(name) FILTER (WHERE assumption_kind = 'device') AS device_name,
        any_value(name) FILTER (WHERE assumption_kind = 'vendor') AS vendor_name,
        any_value(name) FILTER (WHERE assumption_kind = 'architecture') AS architecture_name,
        TRY_CAST(any_value(value) FILTER (WHERE assumption_kind = 'core_count') AS BIGINT) AS core_count
    FROM assumption
    GROUP BY run_id, source_id
)
SELECT DISTINCT
    measurement.run_id, measurement.source_id, said.device_name, device_model.model_name,
    coalesce(cpu_family.vendor_name, said.vendor_name, device_model.vendor_name) AS vendor_name,
    coalesce(said.architecture_name, device_model.architecture_name) AS architecture_name,
    coalesce(said.core_count, device_model.core_count) AS core_count
FROM measurement
LEFT JOIN said USING (run_id, source_id)
LEFT JOIN device_model
    ON device_model.model_key = device_key(said.device_name)
    AND device_model.core_count IS NOT NULL
-- one row per set of the family
LEFT JOIN cpu_family
    ON cpu_family.architecture_name = coalesce(said.architecture_name, device_model.architecture_name)
