-- purpose = "Whether a figure is larger than another, and not by rounding alone: what is on the
-- ridge or on a roof is the same however its sums were ordered."
-- source = "docs/metrics.md, section Bound and near what"
-- parameters = "one other"
-- one = "DOUBLE: the figure"
-- other = "DOUBLE: what it is held against"
one > other * (1 + 1e-9)
