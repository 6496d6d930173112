-- purpose = "Each label of each run, once."
-- source = "table run_label"
-- needs = ["run_label"]
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- label_name = {type = "VARCHAR", doc = "label"}
-- label_value = {type = "VARCHAR", doc = "its value"}
-- label_number = {type = "DOUBLE", doc = "its value as a number; NULL if it is none"}
select run_id, label_name, any_value(value) as label_value, any_value(value_number) as label_number
from run_label
group by run_id, label_name
