-- purpose = "What the report says is busy, compute or memory; NULL if neither, or if it says
-- nothing."
-- source = "NVIDIA Nsight Compute, rule SOLBottleneck; docs/metrics.md, section Bound and near
-- what"
-- parameters = "compute_throughput_ratio memory_throughput_ratio busy_from"
-- compute_throughput_ratio = "DOUBLE: the report's own share of peak: compute; NULL if it has none"
-- memory_throughput_ratio = "DOUBLE: the report's own share of peak: memory, of its busiest part"
-- busy_from = "DOUBLE: minimum share that is busy"
case
    when
        memory_throughput_ratio >= busy_from
        and memory_throughput_ratio > coalesce(compute_throughput_ratio, 0)
    then 'memory throughput'
    when compute_throughput_ratio >= busy_from
    then 'compute throughput'
end
