-- purpose = "What bounds a sequence of launches: overhead where both times at peak are below it, else the longer of them; NULL where one is not known."
-- source = "Wang Y. 2020 (Time-Based Roofline), sect. II; docs/metrics.md"
-- [parameters]
-- compute_ns = {type = "DOUBLE", doc = "time of the operations at peak"}
-- bandwidth_ns = {type = "DOUBLE", doc = "time of the traffic at peak"}
-- overhead_ns = {type = "DOUBLE", doc = "launches times the time of one launch; NULL where it is not known"}
CASE
    WHEN compute_ns IS NULL OR bandwidth_ns IS NULL THEN NULL
    WHEN compute_ns < overhead_ns AND bandwidth_ns < overhead_ns THEN 'overhead'
    WHEN bandwidth_ns > compute_ns THEN 'bandwidth'
    ELSE 'compute'
END
