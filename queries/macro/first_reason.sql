-- purpose = "Why a sum is NULL: the reason of one unknown part, and how many parts are unknown."
-- source = "docs/metrics.md: unknown is NULL, and the row says why"
-- parameters = "reason parts"
-- reason = "VARCHAR: reason in a row; NULL if the value is known"
-- parts = "VARCHAR: name of the rows, e.g. files"
case
    when count(reason) = 0
    then null
    when count(*) = 1
    then min(reason)
    else count(reason) || ' of ' || count(*) || ' ' || parts || ': ' || min(reason)
end
