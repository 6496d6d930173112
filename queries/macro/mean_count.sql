-- purpose = "Mean of a count per launch; NULL if one of the counts is unknown."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- parameters = "part launches"
case when count(part) = count(*) then cast(round(ratio(sum(part), sum(launches))) as bigint) end
