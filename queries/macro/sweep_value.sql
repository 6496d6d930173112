-- purpose = "The values of a label of a sweep that a report may be asked to compare with; an error where there is one only."
-- source = "docs/metrics.md, section Sweeps: what need not be said"
-- needs = ["run"]
-- depends = ["configuration_label", "run_title"]
-- [parameters]
-- wanted_label = {type = "VARCHAR", doc = "which label; NULL: no row"}
-- wanted_runs = {type = "VARCHAR", doc = "names of runs, * for any letters"}
-- wanted_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; NULL for all"}
-- [columns]
-- choice_name = {type = "VARCHAR", doc = "the value; a number always written in one way"}
-- is_chosen = {type = "BOOLEAN", doc = "false: which of two is the baseline would be a guess"}
WITH there AS (
    SELECT DISTINCT label_number, coalesce(format('{:.15g}', label_number), label_value) AS choice_name
    FROM configuration_label
    JOIN run_title USING (run_id)
    WHERE
        label_name = wanted_label AND title GLOB wanted_runs
        AND (wanted_ids IS NULL OR list_contains(string_split(wanted_ids, ','), run_id))
)
SELECT
    CASE WHEN count(*) OVER () > 1 THEN choice_name ELSE error(wanted_label || ' is ' || choice_name || ' everywhere: there is nothing to compare with') END AS choice_name,
    false AS is_chosen
FROM there
ORDER BY label_number NULLS LAST, choice_name
