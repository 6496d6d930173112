-- purpose = "whole_sum of some rows: NULL if one of them is unknown, or if there are none."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = "part-summed is_in"
case
    when count(part) filter (where is_in) = count(*) filter (where is_in)
    then sum(part) filter (where is_in)
end
