-- purpose = "Longest of the times at peak; NULL unless operations and device memory traffic are
-- known."
-- source = "Wang Y. 2020 (Time-Based Roofline), eq. 1; docs/metrics.md, section Bound and near
-- what"
-- parameters = "compute_ns dram_ns l2_ns l1_ns"
case
    when compute_ns is not null and dram_ns is not null
    then greatest(compute_ns, dram_ns, coalesce(l2_ns, 0), coalesce(l1_ns, 0))
end
