-- purpose = "Whether two steps cannot be in one stable phase: one takes more than 11/9 as long,
-- or launches 1 % more kernels."
-- source = "docs/metrics.md, section Steps and the stable phase"
-- parameters = "one_ns other_ns one_count other_count"
-- one_ns = "BIGINT: time of one"
-- other_ns = "BIGINT: time of the other"
-- one_count = "BIGINT: kernels of one"
-- other_count = "BIGINT: kernels of the other"
9 * greatest(one_ns, other_ns) > 11 * least(one_ns, other_ns)
or 100 * greatest(one_count, other_count) > 101 * least(one_count, other_count)
