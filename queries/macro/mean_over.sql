-- purpose = "Time-weighted mean of a ratio over rows with a known ratio."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = "value weight"
-- value = "DOUBLE: ratio in a row; NULL if unknown"
-- weight = "DOUBLE: time of the row"
ratio(sum(value * weight), sum(weight) filter (where value is not null))
