-- purpose = "The word that all rows have, mixed where they have several, NULL where none has one."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = "word"
-- word = "VARCHAR: a row each; NULL without one"
case when min(word) = max(word) then min(word) when count(word) > 0 then 'mixed' end
