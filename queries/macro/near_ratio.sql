-- purpose = "Share of the nearest roof: time at peak / time, or the throughput that the profiler
-- reports if it names the roof, e.g. of a memory level whose traffic was not collected."
-- source = "docs/metrics.md, section Ceilings; Nsight Compute, speed of light"
-- parameters = "roof_share named_roof compute_share memory_share"
-- roof_share = "DOUBLE: kernel_bound.roof_ratio"
-- named_roof = "VARCHAR: kernel_bound.nearest_name"
-- compute_share = "DOUBLE: kernel_bound.compute_throughput_ratio"
-- memory_share = "DOUBLE: kernel_bound.memory_throughput_ratio"
greatest(
    roof_share,
    case
        named_roof
        when 'compute throughput'
        then compute_share
        when 'memory throughput'
        then memory_share
    end
)
