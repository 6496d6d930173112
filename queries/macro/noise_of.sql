-- purpose = "Difference of two mean step times that noise can explain: Student's t x the standard
-- error. NULL if a side has fewer than two steps."
-- source = "Welch 1947 (The generalization of Student's problem); docs/metrics.md, section
-- Comparing runs"
-- depends = ["student_t"]
-- parameters = "a_variance a_count b_variance b_count"
-- a_variance = "DOUBLE: variance of the steps of A"
-- a_count = "BIGINT: steps of A"
-- b_variance = "DOUBLE: variance of the steps of B"
-- b_count = "BIGINT: steps of B"
case
    when least(a_count, b_count) < 2
    then null
    when a_variance + b_variance = 0
    then 0.0
    else
        student_t(
            -- rounding must not take a degree from a number that is whole
            round(
                ratio(
                    pow(ratio(a_variance, a_count) + ratio(b_variance, b_count), 2),
                    ratio(pow(ratio(a_variance, a_count), 2), a_count - 1)
                    + ratio(pow(ratio(b_variance, b_count), 2), b_count - 1)
                ),
                9
            )
        )
        * sqrt(ratio(a_variance, a_count) + ratio(b_variance, b_count))
end
