-- purpose = "The mean of a count over launches, for one launch; NULL if the count of one of them
-- is unknown."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- parameters = "part launches"
case when count(part) = count(*) then cast(round(ratio(sum(part), sum(launches))) as bigint) end
