-- purpose = "Spread of a count over launches: (maximum - minimum) / mean per launch, over known
-- counts."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- parameters = "part launches"
ratio(
    max(ratio(part, launches)) - min(ratio(part, launches)),
    ratio(sum(part), sum(launches) filter (where part is not null))
)
