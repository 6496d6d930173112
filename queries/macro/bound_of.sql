-- purpose = "What bounds work: overhead if both times at peak are below that of its launches;
-- latency if far from every roof and nothing is busy; else the longer time at peak. NULL if one
-- is unknown."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II; NVIDIA Nsight Compute, rule
-- SOLBottleneck: below 60 % of every peak; docs/metrics.md, section Bound and near what"
-- depends = ["exceeds"]
-- parameters = "compute_ns bandwidth_ns overhead_ns nearness_ratio busy_name latency_below"
-- bandwidth_ns = "DOUBLE: time of the device memory traffic at peak"
-- nearness_ratio = "DOUBLE: roof_ratio: longest time at peak / time; NULL if unknown"
-- latency_below = "DOUBLE: nearness_ratio below which no roof limits"
case
    when compute_ns is null or bandwidth_ns is null
    then null
    when compute_ns < overhead_ns and bandwidth_ns < overhead_ns
    then 'overhead'
    -- it may be far from its roof
    when nearness_ratio is null and latency_below > 0
    then null
    when nearness_ratio < latency_below
    then
        case
            busy_name
            when 'memory throughput'
            then 'bandwidth'
            when 'compute throughput'
            then 'compute'
            else 'latency'
        end
    when exceeds(bandwidth_ns, compute_ns)
    then 'bandwidth'
    else 'compute'
end
