-- purpose = "Duration of a launch, in ns: as measured, else cycles over clock."
-- source = "docs/metrics.md, section Work: run time"
-- [parameters]
-- measured_ns = {type = "BIGINT", doc = "duration as measured"}
-- cycles = {type = "DOUBLE", doc = "cycles that passed"}
-- clock_hz = {type = "DOUBLE", doc = "clock meanwhile"}
coalesce(measured_ns, try_cast(round(ratio(cycles, clock_hz) * 1e9) as bigint))
