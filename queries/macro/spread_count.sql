-- purpose = "How far a count differs over launches: (most - least) / mean, each of one launch; of
-- those that are known."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- parameters = "part launches"
ratio(
    max(ratio(part, launches)) - min(ratio(part, launches)),
    ratio(sum(part), sum(launches) filter (where part is not null))
)
