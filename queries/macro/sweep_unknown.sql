-- purpose = "No row where a label or a metric is one that some configuration has; else an error that names those there are."
-- source = "docs/metrics.md, section Sweeps"
-- depends = ["sweep_column"]
-- [parameters]
-- wanted_role = {type = "VARCHAR", doc = "label or metric"}
-- wanted_name = {type = "VARCHAR", doc = "its name"}
-- [columns]
-- unknown_name = {type = "VARCHAR", doc = "never there"}
WITH there AS (
    SELECT coalesce(list(column_name ORDER BY column_name) FILTER (WHERE role_kind = wanted_role), []) AS names
    FROM sweep_column
    HAVING count(*) > 0
)
SELECT unknown_name
FROM (
    SELECT CASE WHEN list_contains(names, wanted_name) THEN NULL ELSE error('no configuration has the ' || wanted_role || ' ' || wanted_name || '; there are: ' || CASE WHEN len(names) = 0 THEN 'none' ELSE array_to_string(names, ', ') END) END AS unknown_name
    FROM there
)
WHERE unknown_name IS NOT NULL
