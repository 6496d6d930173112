-- purpose = "Quotient of a share of a peak; NULL where it is impossible: the work, the time or the
-- peak is wrong, or the work was not done there."
-- source = "docs/metrics.md, section Above the peak"
-- depends = ["max_share"]
-- parameters = "numerator denominator"
-- numerator = "DOUBLE: work, or its time at peak"
-- denominator = "DOUBLE: the most that was possible, or the time"
case when numerator <= max_share() * denominator then ratio(numerator, denominator) end
