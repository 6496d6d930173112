-- purpose = "Resource with the longest time at peak: compute, dram, l2 or l1; NULL unless
-- operations and device memory traffic are known."
-- source = "Wang Y. 2020 (Time-Based Roofline), eq. 1; docs/metrics.md, section Bound and near
-- what"
-- depends = ["longest_of", "exceeds"]
-- parameters = "compute_ns dram_ns l2_ns l1_ns"
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
