-- purpose = "Labels of each run, each once."
-- source = "table run_label"
-- needs = ["run_label"]
-- columns = "run_id label_name label_value label_number"
select run_id, label_name, any_value(value) as label_value, any_value(value_number) as label_number
from run_label
group by run_id, label_name
