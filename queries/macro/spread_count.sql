-- purpose = "How far a count differs over launches: (most - least) / mean, each of one launch; of
-- those that are known."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- parameters = {part = {type = "BIGINT", doc = "the count of a row"}, launches = {type =
-- "BIGINT", doc = "launches that the row stands for"}}
ratio(
    max(ratio(part, launches)) - min(ratio(part, launches)),
    ratio(sum(part), sum(launches) filter (where part is not null))
)
