-- purpose = "The configurations of some runs that have certain values of labels."
-- source = "docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["configuration_label", "sweep_column", "sweep_configuration", "sweep_table"]
-- [parameters]
-- wanted_runs = {type = "VARCHAR", doc = "names of runs, * for any letters"}
-- wanted_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; NULL for all"}
-- wanted_values = {type = "VARCHAR", doc = "values of labels, with commas between: layer=4,input=2000; NULL for all"}
-- [columns]
-- configuration_id = {type = "BIGINT", doc = "the configuration, as in sweep_configuration"}
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "as in sweep_configuration"}
-- event_id = {type = "BIGINT", doc = "as in sweep_configuration"}
-- title = {type = "VARCHAR", doc = "name of the run"}
-- status_kind = {type = "VARCHAR", doc = "ok or failed"}
-- status_text = {type = "VARCHAR", doc = "what the table says of it"}
WITH
told AS (
    SELECT
        trim(string_split(part, '=')[1]) AS label_name,
        CASE WHEN contains(part, '=') THEN trim(substr(part, strpos(part, '=') + 1)) ELSE error(trim(part) || ': give a value, such as ' || trim(part) || '=4') END AS wanted_value
    FROM (SELECT unnest(string_split(wanted_values, ',')) AS part)
    WHERE wanted_values IS NOT NULL
),
there AS (
    SELECT DISTINCT label_name, label_value, label_number FROM configuration_label WHERE label_name IN (SELECT label_name FROM told)
),
known AS (
    SELECT
        told.label_name, told.wanted_value,
        coalesce(bool_or(there.label_value = wanted_value OR there.label_number = try_cast(wanted_value AS DOUBLE)), false) AS is_there,
        array_to_string(list(there.label_value ORDER BY there.label_number NULLS LAST, there.label_value)[:20], ', ') AS value_names
    FROM told
    LEFT JOIN there USING (label_name)
    GROUP BY told.label_name, told.wanted_value
),
wanted AS (
    SELECT label_name, wanted_value
    FROM known
    WHERE CASE WHEN is_there OR NOT EXISTS (FROM sweep_table) THEN true ELSE error('no configuration has ' || label_name || '=' || wanted_value || coalesce('; ' || label_name || ' is one of: ' || nullif(value_names, ''), '; labels: ' || (SELECT string_agg(DISTINCT column_name, ', ' ORDER BY column_name) FROM sweep_column WHERE role_kind = 'label' AND wanted_values IS NOT NULL))) END
),
kept AS (
    SELECT configuration_id
    FROM configuration_label AS own
    JOIN wanted ON wanted.label_name = own.label_name AND (own.label_value = wanted_value OR own.label_number = try_cast(wanted_value AS DOUBLE))
    WHERE wanted_values IS NOT NULL
    GROUP BY configuration_id
    HAVING count(*) = (SELECT count(DISTINCT label_name) FROM wanted)
)
SELECT *
FROM sweep_configuration
WHERE
    title GLOB wanted_runs
    AND (wanted_ids IS NULL OR list_contains(string_split(wanted_ids, ','), run_id))
    AND (wanted_values IS NULL OR configuration_id IN (FROM kept))
