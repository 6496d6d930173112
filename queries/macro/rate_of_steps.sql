-- purpose = "Steps per second: 1 / mean time of the steps."
-- source = "Zhu 2018 (TBD), sect. 3.4, throughput; docs/metrics.md, section Steps and the stable
-- phase"
-- parameters = "its_elapsed_ns"
-- its_elapsed_ns = "BIGINT: time of each step"
ratio(count(its_elapsed_ns) * 1e9, sum(its_elapsed_ns))
