-- purpose = "One label of every configuration of a sweep."
-- source = "view configuration_label"
-- needs = ["run"]
-- depends = ["configuration_label"]
-- [parameters]
-- wanted_label = {type = "VARCHAR", doc = "which label"}
-- [columns]
-- configuration_id = {type = "BIGINT", doc = "the configuration, as in sweep_configuration"}
-- label_value = {type = "VARCHAR", doc = "its value"}
-- label_number = {type = "DOUBLE", doc = "that as a number; NULL if it is none"}
SELECT configuration_id, label_value, label_number
FROM configuration_label
WHERE label_name = wanted_label
