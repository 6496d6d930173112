-- purpose = "Which resource takes the longest at peak: compute, dram, l2 or l1; NULL unless
-- operations and device memory are known."
-- source = "Wang Y. 2020 (Time-Based Roofline), eq. 1; docs/metrics.md, section Bound and near
-- what"
-- depends = ["longest_of", "exceeds"]
-- [parameters]
-- compute_ns = {type = "DOUBLE", doc = "time of the operations at peak"}
-- dram_ns = {type = "DOUBLE", doc = "time of the device memory traffic at peak"}
-- l2_ns = {type = "DOUBLE", doc = "the same of L2; NULL if it is unknown"}
-- l1_ns = {type = "DOUBLE", doc = "the same of L1"}
case
    when not exceeds(longest_of(compute_ns, dram_ns, l2_ns, l1_ns), compute_ns)
    then 'compute'
    when not exceeds(longest_of(compute_ns, dram_ns, l2_ns, l1_ns), dram_ns)
    then 'dram'
    when not exceeds(longest_of(compute_ns, dram_ns, l2_ns, l1_ns), l2_ns)
    then 'l2'
    when not exceeds(longest_of(compute_ns, dram_ns, l2_ns, l1_ns), l1_ns)
    then 'l1'
end
