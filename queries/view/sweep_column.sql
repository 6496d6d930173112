-- purpose = "The labels and metrics that some configuration has."
-- source = "tables configuration_value, run_label and run_metric"
-- [columns]
-- role_kind = {type = "VARCHAR", doc = "label or metric"}
-- column_name = {type = "VARCHAR", doc = "its name"}
SELECT DISTINCT role_kind, column_name FROM configuration_value
UNION
SELECT 'label', label_name FROM run_label
UNION
SELECT 'metric', metric_name FROM run_metric
