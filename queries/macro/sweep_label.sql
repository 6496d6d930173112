-- purpose = "One label of every configuration of a sweep."
-- source = "view configuration_label"
-- needs = ["run"]
-- depends = ["configuration_label"]
-- [parameters]
-- wanted_label = {type = "VARCHAR", doc = "which label"}
-- [columns]
-- configuration_id = {type = "BIGINT", doc = "the configuration, as in sweep_configuration"}
-- label_value = {type = "VARCHAR", doc = "its value"}
-- label_number = {type = "DOUBLE", doc = "that value as a number; NULL if it is not a number"}
select configuration_id, label_value, label_number
from configuration_label
where label_name = wanted_label
