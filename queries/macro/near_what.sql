-- purpose = "What work is nearest to: the roof with the longest time at peak; where that is far,
-- what the report itself says is busy."
-- source = "docs/metrics.md, section Bound and near what"
-- depends = ["busy_what"]
-- [parameters]
-- roof_name = {type = "VARCHAR", doc = "as of nearest_of"}
-- roof_ratio = {type = "DOUBLE", doc = "the longest time at peak / time; NULL if it is unknown"}
-- compute_throughput_ratio = {type = "DOUBLE", doc = "the report's own share of peak: compute;
-- NULL if it has none"}
-- memory_throughput_ratio = {type = "DOUBLE", doc = "the same: memory, of its busiest part"}
-- latency_below = {type = "DOUBLE", doc = "what is below it is far"}
case
    when roof_name is null or roof_ratio is null or roof_ratio >= latency_below
    then roof_name
    else
        coalesce(
            busy_what(compute_throughput_ratio, memory_throughput_ratio, latency_below), roof_name
        )
end
