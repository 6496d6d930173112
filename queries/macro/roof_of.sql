-- purpose = "The verdict on a point: how near to its roof it is, what it is nearest to, what
-- bounds it. The one rule that every report and every picture goes by."
-- source = "Wang Y. 2020 (Time-Based Roofline), eq. 1 and sect. II; docs/metrics.md, section
-- Bound and near what"
-- depends = ["longest_of", "nearest_of", "bound_of", "exceeds"]
-- parameters = "compute_ns dram_ns l2_ns l1_ns overhead_ns time_ns busy_name latency_below"
-- time_ns = "DOUBLE: time it took; NULL where it is not known"
-- latency_below = "DOUBLE: what roof_ratio is below where no roof limits; NULL for 0.6"
list_transform(
    [
        {
            'ratio':ratio(longest_of(compute_ns, dram_ns, l2_ns, l1_ns), time_ns),
            'name':nearest_of(compute_ns, dram_ns, l2_ns, l1_ns),
            'limit':coalesce(latency_below, 0.6)
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
