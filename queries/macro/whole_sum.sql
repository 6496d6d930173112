-- purpose = "Sum that is NULL if a part is unknown: a part is never shown as the whole."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = "part-summed"
case when count(part) = count(*) then sum(part) end
