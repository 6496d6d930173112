-- purpose = "Value of all rows that have one; NULL if they have several or none has one."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = "word"
case when min(word) = max(word) then min(word) end
