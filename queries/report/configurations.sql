-- purpose = "What tables of results hold: how many configurations, how many failed and why, and each label and metric with its values."
-- source = "tables configuration and configuration_value; ParaDnn (Wang Y. E. 2020), sect. 3"
-- needs = ["configuration"]
-- depends = ["run_title"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run"}
-- [columns]
-- column_name = {type = "VARCHAR", doc = "label or metric; NULL in the rows of the configurations themselves"}
-- role_kind = {type = "VARCHAR", doc = "label, metric or configuration"}
-- status_kind = {type = "VARCHAR", doc = "of configurations: ok or failed"}
-- configuration_count = {type = "BIGINT", doc = "configurations, or those that have a value"}
-- missing_count = {type = "BIGINT", doc = "configurations without a value that can be used: for a metric a number"}
-- distinct_count = {type = "BIGINT", doc = "different values"}
-- min_value = {type = "DOUBLE", doc = "the least number"}
-- median_value = {type = "DOUBLE", doc = "the median of the numbers"}
-- max_value = {type = "DOUBLE", doc = "the largest number"}
-- unit = {type = "VARCHAR", doc = "unit, where the file says it"}
-- status_text = {type = "VARCHAR", doc = "of configurations: what the file says of them, such as OOM"}
-- example_text = {type = "VARCHAR", doc = "of a label with words: the first of them in order"}
-- run_name = {type = "VARCHAR", doc = "the run"}
WITH
all_of_it AS (
    SELECT status_kind, status_text, count(*) AS configuration_count
    FROM configuration
    WHERE run_id = $run_id
    GROUP BY status_kind, status_text
),
total AS (SELECT sum(configuration_count) AS whole_count FROM all_of_it),
columns_of_it AS (
    SELECT
        column_name, role_kind, any_value(unit) AS unit,
        count(*) AS present_count,
        count(*) FILTER (WHERE role_kind = 'label' OR value IS NOT NULL) AS known_count,
        count(DISTINCT value_text) AS distinct_count,
        min(value) AS min_value, median(value) AS median_value, max(value) AS max_value,
        min(value_text) FILTER (WHERE role_kind = 'label' AND value IS NULL) AS example_text
    FROM configuration_value
    WHERE
        run_id = $run_id
        -- what a failed one has of a metric, such as 0, was not measured
        AND (role_kind = 'label' OR (source_id, event_id) NOT IN (SELECT (source_id, event_id) FROM configuration WHERE run_id = $run_id AND status_kind = 'failed'))
    GROUP BY column_name, role_kind
),
told AS (
    SELECT
        1 AS place, NULL AS column_name, 'configuration' AS role_kind, NULL AS unit, status_text,
        status_kind, configuration_count, NULL AS missing_count, NULL AS distinct_count,
        NULL AS min_value, NULL AS median_value, NULL AS max_value, NULL AS example_text
    FROM all_of_it
    UNION ALL BY NAME
    SELECT
        CASE role_kind WHEN 'label' THEN 2 ELSE 3 END AS place, column_name, role_kind, unit,
        NULL AS status_text, NULL AS status_kind, present_count AS configuration_count,
        CAST(whole_count - known_count AS BIGINT) AS missing_count, distinct_count,
        min_value, median_value, max_value, example_text
    FROM columns_of_it, total
)
SELECT
    column_name, role_kind, status_kind, configuration_count, missing_count, distinct_count,
    min_value, median_value, max_value, unit, status_text, example_text, run_title.title AS run_name
FROM told
LEFT JOIN run_title ON run_title.run_id = $run_id
ORDER BY place, status_kind DESC, configuration_count DESC, column_name
