-- purpose = "No rows if a label and a metric of a sweep are known, and the metric has one unit;
-- else an error, as in sweep_unknown and sweep_units."
-- source = "docs/metrics.md, section Sweeps"
-- depends = ["sweep_units", "sweep_unknown"]
-- parameters = "wanted_label wanted_metric wanted_runs wanted_ids"
-- wanted_label = "VARCHAR: label; NULL if none is requested"
-- columns = "unknown_name"
from sweep_unknown('label', wanted_label)
union all
from sweep_unknown('metric', wanted_metric)
union all
from sweep_units(wanted_metric, wanted_runs, wanted_ids)
