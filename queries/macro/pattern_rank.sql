-- purpose = "Rank of a pattern among those that match; the lowest counts: one without *, else the
-- longest."
-- source = "tracekit/opclasses.toml"
-- parameters = "pattern"
-- pattern = "VARCHAR: pattern in op_class"
case when contains(pattern, '*') then 1000 - length(pattern) else 0 end
