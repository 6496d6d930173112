-- purpose = "The sum over some rows; 0 if there are none."
-- source = "docs/metrics.md: 0 is measured zero"
-- parameters = {part = {type = "BIGINT", doc = "what is added up, a row each"}, is_in = {type =
-- "BOOLEAN", doc = "which rows"}}
cast(coalesce(sum(part) filter (where is_in), 0) as bigint)
