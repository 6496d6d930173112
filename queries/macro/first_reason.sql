-- purpose = "Why a sum is NULL: the reason of a part that is not known, and how many of them there are."
-- source = "docs/metrics.md: unknown is NULL, and the row says why"
-- parameters = {reason = {type = "VARCHAR", doc = "why a part is NULL, a row each; NULL where it is known"}, parts = {type = "VARCHAR", doc = "what the rows are, e.g. files"}}
CASE
    WHEN count(reason) = 0 THEN NULL
    WHEN count(*) = 1 THEN min(reason)
    ELSE count(reason) || ' of ' || count(*) || ' ' || parts || ': ' || min(reason)
END
