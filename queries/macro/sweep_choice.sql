-- purpose = "What a parameter of a sweep's report can be, and whether nothing else can be meant."
-- source = "docs/metrics.md, section Sweeps: what need not be said"
-- needs = ["run"]
-- depends = ["label_value", "sweep_table"]
-- [parameters]
-- wanted_kind = {type = "VARCHAR", doc = "metric, speed (a metric; example_per_sec if there is one), label, group (a label), platform or chips (of labels those of whole runs first; chips of numbers)"}
-- wanted_runs = {type = "VARCHAR", doc = "names of runs, * for any letters"}
-- wanted_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; NULL for all"}
-- [columns]
-- choice_name = {type = "VARCHAR", doc = "a metric, or a label with several values"}
-- is_chosen = {type = "BOOLEAN", doc = "whether it is the only one; false of a kind label, of which a report takes two"}
WITH
tables AS (
    SELECT run_id, source_id
    FROM sweep_table
    WHERE title GLOB wanted_runs AND (wanted_ids IS NULL OR list_contains(string_split(wanted_ids, ','), run_id))
),
told AS (
    SELECT
        role_kind, column_name AS choice_name, false AS is_of_runs, bool_and(value IS NOT NULL) AS is_number,
        min(value) AS least_number, max(value) AS most_number, min(value_text) AS first_text, max(value_text) AS last_text
    FROM configuration_value
    JOIN tables USING (run_id, source_id)
    GROUP BY role_kind, column_name
    UNION ALL
    SELECT
        'label', label_name, true, bool_and(label_number IS NOT NULL),
        min(label_number), max(label_number), min(label_value), max(label_value)
    FROM label_value
    WHERE run_id IN (SELECT run_id FROM tables)
    GROUP BY label_name
    UNION ALL
    SELECT DISTINCT 'metric', metric_name, true, true, NULL, NULL, NULL, NULL
    FROM run_metric
    WHERE (run_id, 'run') IN (SELECT (run_id, source_id) FROM tables)
),
named AS (
    SELECT
        role_kind, choice_name, bool_or(is_of_runs) AS is_of_runs, bool_and(is_number) AS is_number,
        CASE WHEN bool_and(is_number) THEN min(least_number) < max(most_number) ELSE min(first_text) < max(last_text) END AS is_varied
    FROM told
    GROUP BY role_kind, choice_name
),
ranked AS (
    SELECT
        choice_name,
        CASE
            WHEN wanted_kind = 'speed' AND choice_name = 'example_per_sec' THEN 1
            WHEN wanted_kind IN ('platform', 'chips') AND is_of_runs THEN 1
            ELSE 2
        END AS choice_rank
    FROM named
    WHERE CASE
        WHEN wanted_kind IN ('metric', 'speed') THEN role_kind = 'metric'
        WHEN wanted_kind = 'chips' THEN role_kind = 'label' AND is_varied AND is_number
        ELSE role_kind = 'label' AND is_varied
    END
)
SELECT
    choice_name,
    wanted_kind <> 'label' AND choice_rank = min(choice_rank) OVER () AND count(*) OVER (PARTITION BY choice_rank) = 1 AS is_chosen
FROM ranked
UNION ALL
SELECT
    error('no configuration has ' || CASE WHEN wanted_kind IN ('metric', 'speed') THEN 'a metric' WHEN wanted_kind = 'chips' THEN 'a label with several numbers' ELSE 'a label with several values' END || '; what a column is can be said at ingest: --columns labels=NAME,metrics=NAME') AS choice_name,
    false
FROM (SELECT count(*) AS ranked_count FROM ranked)
WHERE ranked_count = 0 AND EXISTS (FROM tables)
ORDER BY choice_name
