-- purpose = "Sum of some rows; 0 if there are none."
-- source = "docs/metrics.md: 0 is measured zero"
-- parameters = "part is_in"
-- part = "value in a row"
cast(coalesce(sum(part) filter (where is_in), 0) as bigint)
