-- purpose = "Where figures that were added up come from: measured, modelled, or mixed; NULL if
-- none is known."
-- source = "docs/metrics.md, section Counters joined to a timeline"
-- parameters = {kind = {type = "VARCHAR", doc = "measured or modelled, a row each; NULL without a
-- figure"}}
case when min(kind) = max(kind) then min(kind) when count(kind) > 0 then 'mixed' end
