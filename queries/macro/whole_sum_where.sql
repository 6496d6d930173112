-- purpose = "The whole_sum of some rows: NULL where of one of them the part is not known, or where
-- there is none."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = {part = {type = "DOUBLE", doc = "what is added up, a row each"}, is_in = {type =
-- "BOOLEAN", doc = "which rows"}}
case
    when count(part) filter (where is_in) = count(*) filter (where is_in)
    then sum(part) filter (where is_in)
end
