-- purpose = "A value that all rows which have one share; NULL if they differ."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = {word = {type = "VARCHAR", doc = "the value of a row; NULL counts as none"}}
case when min(word) = max(word) then min(word) end
