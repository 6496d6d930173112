-- purpose = "Why a sum is NULL: the reason of a part that is unknown, and how many of them there
-- are."
-- source = "docs/metrics.md: unknown is NULL, and the row says why"
-- parameters = "reason parts"
-- reason = "VARCHAR: why a part is NULL, a row each; NULL if it is known"
-- parts = "VARCHAR: what the rows are, e.g. files"
case
    when count(reason) = 0
    then null
    when count(*) = 1
    then min(reason)
    else count(reason) || ' of ' || count(*) || ' ' || parts || ': ' || min(reason)
end
