-- purpose = "A quotient that is NULL, never inf or an error, where there is nothing to divide by."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = "numerator denominator"
-- numerator = "DOUBLE: what is divided"
-- denominator = "DOUBLE: what it is divided by"
case
    when isfinite(cast(numerator as double) / nullif(cast(denominator as double), 0))
    then cast(numerator as double) / cast(denominator as double)
end
