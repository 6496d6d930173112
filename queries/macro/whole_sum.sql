-- purpose = "A sum that is NULL if a part of it is unknown: never a part shown as the whole."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = "part-summed"
case when count(part) = count(*) then sum(part) end
