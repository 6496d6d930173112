-- purpose = "No row where a label or a metric is one that some configuration has; else an error that names those there are."
-- source = "docs/metrics.md, section Sweeps"
-- depends = ["sweep_column"]
-- [parameters]
-- wanted_role = {type = "VARCHAR", doc = "label or metric, or % for either"}
-- wanted_name = {type = "VARCHAR", doc = "its name; NULL if none is asked for"}
-- [columns]
-- unknown_name = {type = "VARCHAR", doc = "never there"}
WITH there AS (
    SELECT
        coalesce(list(column_name ORDER BY column_name) FILTER (WHERE role_kind LIKE wanted_role), []) AS names,
        any_value(role_kind) FILTER (WHERE column_name = wanted_name) AS other_role
    FROM sweep_column
    HAVING count(*) > 0
)
SELECT unknown_name
FROM (
    SELECT
        CASE
            WHEN wanted_name IS NULL OR list_contains(names, wanted_name) THEN NULL
            WHEN other_role IS NOT NULL THEN error(wanted_name || ' is a ' || other_role || ', not a ' || wanted_role || '; what a column is can be said at ingest: --columns ' || wanted_role || 's=' || wanted_name)
            ELSE error('no configuration has the ' || CASE wanted_role WHEN '%' THEN 'label or metric' ELSE wanted_role END || ' ' || wanted_name || '; there are: ' || CASE WHEN len(names) = 0 THEN 'none' ELSE array_to_string(names, ', ') END)
        END AS unknown_name
    FROM there
)
WHERE unknown_name IS NOT NULL
