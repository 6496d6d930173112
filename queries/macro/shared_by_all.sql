-- purpose = "A value that every row has; NULL if one has another or none."
-- source = "docs/metrics.md: unknown is NULL"
-- depends = ["only_one"]
-- parameters = {part = {type = "DOUBLE", doc = "the value of a row"}}
case when count(part) = count(*) then only_one(part) end
