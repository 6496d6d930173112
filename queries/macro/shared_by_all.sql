-- purpose = "Value of all rows; NULL if they have several or one has none."
-- source = "docs/metrics.md: unknown is NULL"
-- depends = ["only_one"]
-- parameters = "part-summed"
case when count(part) = count(*) then only_one(part) end
