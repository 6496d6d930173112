-- purpose = "Labels and metrics that some configuration has."
-- source = "tables configuration_value, run_label and run_metric"
-- columns = "role_kind column_name"
-- role_kind = "VARCHAR: label or metric"
-- column_name = "VARCHAR: name of the label or metric"
select distinct role_kind, column_name
from configuration_value
union
select 'label', label_name
from run_label
union
select 'metric', metric_name
from run_metric
