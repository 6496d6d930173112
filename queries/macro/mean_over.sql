-- purpose = "The mean of a ratio over the time, of the rows where it is known."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = "value weight"
-- value = "DOUBLE: the ratio, a row each; NULL where it is not known"
-- weight = "DOUBLE: the time of the row"
ratio(sum(value * weight), sum(weight) filter (where value is not null))
