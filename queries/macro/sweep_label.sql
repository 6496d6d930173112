-- purpose = "One label of every configuration: as its table has it, else as its run has it."
-- source = "tables configuration_value and run_label; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["label_value", "sweep_configuration"]
-- [parameters]
-- wanted_label = {type = "VARCHAR", doc = "which label"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "as in sweep_configuration"}
-- event_id = {type = "BIGINT", doc = "as in sweep_configuration"}
-- label_value = {type = "VARCHAR", doc = "its value"}
-- label_number = {type = "DOUBLE", doc = "that as a number; NULL if it is none"}
SELECT run_id, source_id, event_id, value_text AS label_value, value AS label_number
FROM configuration_value
WHERE role_kind = 'label' AND column_name = wanted_label
UNION ALL
SELECT here.run_id, here.source_id, here.event_id, given.label_value, given.label_number
FROM sweep_configuration AS here
JOIN label_value AS given ON given.run_id = here.run_id AND given.label_name = wanted_label
WHERE NOT EXISTS (
    SELECT 1 FROM configuration_value AS own
    WHERE own.run_id = here.run_id AND own.source_id = here.source_id AND own.role_kind = 'label' AND own.column_name = wanted_label
)
