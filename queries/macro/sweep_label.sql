-- purpose = "One label of each configuration of a sweep."
-- source = "view configuration_label"
-- needs = ["run"]
-- depends = ["configuration_label"]
-- parameters = "wanted_label"
-- columns = "configuration_id label_value label_number"
select configuration_id, label_value, label_number
from configuration_label
where label_name = wanted_label
