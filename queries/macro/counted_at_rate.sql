-- purpose = "A count from its rate."
-- source = "docs/metrics.md, section Counters"
-- [parameters]
-- rate = {type = "DOUBLE", doc = "how many per cycle or second"}
-- span = {type = "DOUBLE", doc = "cycles or seconds"}
try_cast(round(rate * span) as bigint)
