-- purpose = "A quotient that is NULL, never inf or an error, where there is nothing to divide by."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = {numerator = {type = "DOUBLE", doc = "what is divided"}, denominator = {type = "DOUBLE", doc = "what it is divided by"}}
CASE
    WHEN isfinite(CAST(numerator AS DOUBLE) / nullif(CAST(denominator AS DOUBLE), 0))
    THEN CAST(numerator AS DOUBLE) / CAST(denominator AS DOUBLE)
END
