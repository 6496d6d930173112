-- purpose = "The whole_sum of some rows: NULL where of one of them the part is not known, or
-- where there is none."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = "part-summed is_in"
-- is_in = "BOOLEAN: which rows"
case
    when count(part) filter (where is_in) = count(*) filter (where is_in)
    then sum(part) filter (where is_in)
end
