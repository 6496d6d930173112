-- purpose = "The longest of the times at peak; NULL unless operations and device memory are known."
-- source = "Wang Y. 2020 (Time-Based Roofline), eq. 1; docs/metrics.md, section Bound and near
-- what"
-- [parameters]
-- compute_ns = {type = "DOUBLE", doc = "time of the operations at peak"}
-- dram_ns = {type = "DOUBLE", doc = "time of the device memory traffic at peak"}
-- l2_ns = {type = "DOUBLE", doc = "the same of L2; NULL if it is unknown"}
-- l1_ns = {type = "DOUBLE", doc = "the same of L1"}
case
    when compute_ns is not null and dram_ns is not null
    then greatest(compute_ns, dram_ns, coalesce(l2_ns, 0), coalesce(l1_ns, 0))
end
