-- purpose = "Quotient; NULL, never inf or an error, if there is nothing to divide by."
-- source = "docs/metrics.md: unknown is NULL"
-- parameters = "numerator denominator"
-- numerator = "DOUBLE: dividend"
-- denominator = "DOUBLE: divisor"
case
    when isfinite(cast(numerator as double) / nullif(cast(denominator as double), 0))
    then cast(numerator as double) / cast(denominator as double)
end
