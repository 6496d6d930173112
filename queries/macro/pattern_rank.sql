-- purpose = "Which of several patterns that fit counts, the smallest: one without *, else the
-- longest."
-- source = "tracekit/opclasses.toml"
-- parameters = {pattern = {type = "VARCHAR", doc = "pattern of op_class"}}
case when contains(pattern, '*') then 1000 - length(pattern) else 0 end
