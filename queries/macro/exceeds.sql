-- purpose = "Whether a figure is larger than another, and not by rounding alone: what is on the
-- ridge or on a roof is the same however its sums were ordered."
-- source = "docs/metrics.md, section Bound and near what"
-- [parameters]
-- one = {type = "DOUBLE", doc = "the figure"}
-- other = {type = "DOUBLE", doc = "what it is held against"}
one > other * (1 + 1e-9)
