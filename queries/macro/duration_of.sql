-- purpose = "Duration of a launch in ns: as measured, else cycles / clock."
-- source = "docs/metrics.md, section Work: run time"
-- parameters = "measured_ns cycles clock_hz"
-- measured_ns = "BIGINT: duration as measured"
-- clock_hz = "DOUBLE: clock during the launch"
coalesce(measured_ns, try_cast(round(ratio(cycles, clock_hz) * 1e9) as bigint))
