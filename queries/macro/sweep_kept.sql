-- purpose = "The configurations of some runs that have certain values of labels."
-- source = "docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["sweep_configuration", "label_value"]
-- [parameters]
-- wanted_runs = {type = "VARCHAR", doc = "names of runs, * for any letters"}
-- wanted_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; NULL for all"}
-- wanted_values = {type = "VARCHAR", doc = "values of labels, with commas between: layer=4,input=2000; NULL for all"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "as in sweep_configuration"}
-- event_id = {type = "BIGINT", doc = "as in sweep_configuration"}
-- title = {type = "VARCHAR", doc = "name of the run"}
-- status_kind = {type = "VARCHAR", doc = "ok or failed"}
-- status_text = {type = "VARCHAR", doc = "what the table says of it"}
WITH
wanted AS (
    SELECT trim(string_split(part, '=')[1]) AS label_name, trim(substr(part, strpos(part, '=') + 1)) AS wanted_value
    FROM (SELECT unnest(string_split(wanted_values, ',')) AS part)
    WHERE wanted_values IS NOT NULL
),
chosen AS (
    SELECT *
    FROM sweep_configuration
    WHERE
        title GLOB wanted_runs
        AND (wanted_ids IS NULL OR list_contains(string_split(wanted_ids, ','), run_id))
),
of_rows AS (
    SELECT own.run_id, own.source_id, own.event_id, wanted.label_name
    FROM configuration_value AS own
    JOIN wanted ON wanted.label_name = own.column_name AND (own.value_text = wanted_value OR own.value = try_cast(wanted_value AS DOUBLE))
    WHERE own.role_kind = 'label'
),
of_runs AS (
    SELECT label_value.run_id, wanted.label_name
    FROM label_value
    JOIN wanted ON wanted.label_name = label_value.label_name AND (label_value.label_value = wanted_value OR label_value.label_number = try_cast(wanted_value AS DOUBLE))
),
kept AS (
    SELECT run_id, source_id, event_id
    FROM (
        FROM of_rows
        UNION
        SELECT chosen.run_id, chosen.source_id, chosen.event_id, of_runs.label_name FROM chosen JOIN of_runs USING (run_id)
    )
    GROUP BY ALL
    HAVING count(*) = (SELECT count(DISTINCT label_name) FROM wanted)
)
SELECT chosen.*
FROM chosen
WHERE wanted_values IS NULL OR (run_id, source_id, event_id) IN (FROM kept)
