-- purpose = "Whole ns in a time, whatever rounding takes from a sum that is whole."
-- source = "docs/metrics.md, section Findings: at most"
-- parameters = "exact_ns"
-- exact_ns = "DOUBLE: time, with parts of a ns"
cast(floor(round(exact_ns, 3)) as bigint)
