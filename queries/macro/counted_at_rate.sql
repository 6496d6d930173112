-- purpose = "A count from its rate."
-- source = "docs/metrics.md, section Work: operations and bytes"
-- parameters = "rate span"
-- rate = "DOUBLE: events per cycle or second"
-- span = "DOUBLE: cycles or seconds"
try_cast(round(rate * span) as bigint)
