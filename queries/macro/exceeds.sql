-- purpose = "Whether a value is larger than another, by more than rounding: a point on a ridge or
-- roof stays on it in any order of summation."
-- source = "docs/metrics.md, section Bound and near what"
-- parameters = "one other"
-- one = "DOUBLE: value"
-- other = "DOUBLE: value that it is compared with"
one > other * (1 + 1e-9)
