-- purpose = "No row, or an error if a question about configurations names a label or metric that is
-- not there, or a metric with several units."
-- source = "docs/metrics.md, section Sweeps"
-- depends = ["sweep_units", "sweep_unknown"]
-- [parameters]
-- wanted_label = {type = "VARCHAR", doc = "label; NULL for none"}
-- wanted_metric = {type = "VARCHAR", doc = "metric"}
-- wanted_runs = {type = "VARCHAR", doc = "pattern of the names of runs"}
-- wanted_ids = {type = "VARCHAR", doc = "ids of runs, with commas between them; NULL for all"}
-- [columns]
-- unknown_name = {type = "VARCHAR", doc = "never a value"}
from sweep_unknown('label', wanted_label)
union all
from sweep_unknown('metric', wanted_metric)
union all
from sweep_units(wanted_metric, wanted_runs, wanted_ids)
