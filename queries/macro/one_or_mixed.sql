-- purpose = "Word of all rows; mixed if they have several, NULL if none has one."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = "word"
case when min(word) = max(word) then min(word) when count(word) > 0 then 'mixed' end
