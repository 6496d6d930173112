-- purpose = "Every label of every configuration of a sweep: as its table has it, else as its run has it."
-- source = "tables configuration_value and run_label; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["label_value", "sweep_configuration", "sweep_table"]
-- [columns]
-- configuration_id = {type = "BIGINT", doc = "the configuration, as in sweep_configuration"}
-- run_id = {type = "VARCHAR", doc = "its run"}
-- label_name = {type = "VARCHAR", doc = "label"}
-- label_value = {type = "VARCHAR", doc = "its value"}
-- label_number = {type = "DOUBLE", doc = "its value as a number; NULL if it is none"}
WITH in_tables AS (
    SELECT DISTINCT run_id, source_id, column_name AS label_name
    FROM configuration_value
    JOIN (SELECT DISTINCT run_id, label_name AS column_name FROM run_label) USING (run_id, column_name)
    WHERE role_kind = 'label'
)
SELECT base_id + event_id AS configuration_id, run_id, column_name AS label_name, value_text AS label_value, value AS label_number
FROM configuration_value
JOIN sweep_table USING (run_id, source_id)
WHERE role_kind = 'label'
UNION ALL
SELECT here.configuration_id, here.run_id, given.label_name, given.label_value, given.label_number
FROM sweep_configuration AS here
JOIN label_value AS given ON given.run_id = here.run_id
LEFT JOIN in_tables ON in_tables.run_id = here.run_id AND in_tables.source_id = here.source_id AND in_tables.label_name = given.label_name
WHERE in_tables.run_id IS NULL
