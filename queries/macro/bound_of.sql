-- purpose = "What bounds work: overhead where both times at peak are below that of its launches; latency where it is far from every roof, and the report itself sees nothing busy; else the longer of both times. NULL where one is not known."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II; NVIDIA Nsight Compute, rule SOLBottleneck: below 60 % of every peak; docs/metrics.md, section Bound and near what"
-- [parameters]
-- compute_ns = {type = "DOUBLE", doc = "time of the operations at peak"}
-- bandwidth_ns = {type = "DOUBLE", doc = "time of the traffic of device memory at peak"}
-- overhead_ns = {type = "DOUBLE", doc = "launches times the time of one launch; NULL where it is not known"}
-- nearness_ratio = {type = "DOUBLE", doc = "roof_ratio: the longest time at peak / time; NULL where it is not known"}
-- near_name = {type = "VARCHAR", doc = "as of near_what; NULL where a report has no throughput of its own"}
-- latency_below = {type = "DOUBLE", doc = "what nearness_ratio is below where no roof limits"}
CASE
    WHEN compute_ns IS NULL OR bandwidth_ns IS NULL THEN NULL
    WHEN compute_ns < overhead_ns AND bandwidth_ns < overhead_ns THEN 'overhead'
    -- it may be far from its roof
    WHEN nearness_ratio IS NULL AND latency_below > 0 THEN NULL
    WHEN near_name = 'memory throughput' THEN 'bandwidth'
    WHEN near_name = 'compute throughput' THEN 'compute'
    WHEN nearness_ratio < latency_below THEN 'latency'
    WHEN bandwidth_ns > compute_ns THEN 'bandwidth'
    ELSE 'compute'
END
