-- purpose = "No row where a metric of a sweep has one unit; else an error that names the units and where each is."
-- source = "table configuration_value; docs/metrics.md, section Sweeps"
-- depends = ["sweep_table"]
-- [parameters]
-- wanted_metric = {type = "VARCHAR", doc = "which metric"}
-- wanted_runs = {type = "VARCHAR", doc = "names of runs, * for any letters"}
-- wanted_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; NULL for all"}
-- [columns]
-- unknown_name = {type = "VARCHAR", doc = "never there"}
WITH units AS (
    SELECT unit, min(title) AS title
    FROM configuration_value
    JOIN sweep_table USING (run_id, source_id)
    WHERE
        role_kind = 'metric' AND column_name = wanted_metric AND value IS NOT NULL AND title GLOB wanted_runs
        AND (wanted_ids IS NULL OR list_contains(string_split(wanted_ids, ','), run_id))
    GROUP BY unit
)
SELECT error(wanted_metric || ' has several units: ' || string_agg(coalesce(unit, 'none') || ' in ' || title, ', ' ORDER BY unit NULLS LAST) || '; ask for runs with one of them, or say at ingest what it is: --columns metrics=' || wanted_metric || ':UNIT') AS unknown_name
FROM units
HAVING count(*) > 1
