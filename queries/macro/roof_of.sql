-- purpose = "Verdict on a point, for every report and chart: distance to its roof, nearest
-- resource and bound."
-- source = "Wang Y. 2020 (Time-Based Roofline), eq. 1 and sect. II; docs/metrics.md, section
-- Bound and near what"
-- depends = ["longest_of", "nearest_of", "bound_of", "exceeds", "usual_latency_ratio"]
-- parameters = "compute_ns dram_ns l2_ns l1_ns overhead_ns time_ns busy_name latency_below"
-- latency_below = "DOUBLE: roof_ratio below which no roof limits; NULL for the usual one"
list_transform(
    [
        {
            'ratio':ratio(longest_of(compute_ns, dram_ns, l2_ns, l1_ns), time_ns),
            'name':nearest_of(compute_ns, dram_ns, l2_ns, l1_ns),
            'limit':coalesce(latency_below, usual_latency_ratio())
        }
    ],
    lambda roof: {
        'roof_ratio':roof['ratio'],
        'nearest_name': case
            when roof['ratio'] < roof['limit']
            then coalesce(busy_name, roof['name'])
            else roof['name']
        end,
        'bound_kind':bound_of(
            compute_ns, dram_ns, overhead_ns, roof['ratio'], busy_name, roof['limit']
        ),
        'is_above_roof':exceeds(roof['ratio'], 1)
    }
)[1]
