-- purpose = "Share of every roof below which no roof limits, unless the user gives another."
-- source = "NVIDIA Nsight Compute, rule SOLBottleneck: below 60 % of every peak; docs/metrics.md,
-- section Bound and near what"
0.6
