-- purpose = "Sum of some rows; 0 if there are none, NULL if all are unknown."
-- source = "docs/metrics.md: 0 is measured zero, unknown is NULL"
-- parameters = "part is_in"
-- part = "value in a row"
cast(case when bool_or(is_in) then sum(part) filter (where is_in) else 0 end as bigint)
