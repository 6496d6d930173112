-- purpose = "Why a point with measured work has no share of its roof; NULL if it has one."
-- source = "docs/metrics.md, section Ceilings"
-- depends = ["above_peak"]
-- parameters = "roof_ratio-known nearest_name time_ns"
-- roof_ratio-known = "DOUBLE: time at peak / time; NULL if unknown"
-- nearest_name = "VARCHAR: kernel_group.nearest_name"
case
    when time_ns is null
    then 'duration unknown'
    when roof_ratio is null
    then 'duration of zero'
    else
        above_peak(
            roof_ratio,
            case
                nearest_name when 'compute' then 'operations (measured)' else 'bytes (measured)'
            end,
            case
                nearest_name when 'compute' then 'the peak' else 'the bandwidth of ' || nearest_name
            end
        )
end
