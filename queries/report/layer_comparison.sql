-- purpose = "Layers of several runs side by side: time of a step forward and backward, and how many times that of the first."
-- source = "Awan 2017, sect. 4.3 (Fig. 3 to 7): layers and passes by platform"
-- needs = ["calling_context"]
-- depends = ["layer_figures", "run_group", "group_of", "whole_sum", "first_reason"]
-- [parameters]
-- by = {type = "VARCHAR", doc = "what stands side by side: run, or label (the values of one)", default = "run", choices = ["run", "label"]}
-- label = {type = "VARCHAR", doc = "with by=label: which label, e.g. platform", optional = true}
-- baseline = {type = "VARCHAR", doc = "run, or value of the label, that factors are over; if not given, the first", optional = true}
-- runs = {type = "VARCHAR", doc = "names of runs, * for any letters", default = "*"}
-- run_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; if not given, all", optional = true}
-- layers = {type = "VARCHAR", doc = "paths of layers, * for any letters", default = "*"}
-- phase = {type = "VARCHAR", doc = "steps: all, stable or N..M (numbers, both included)", default = "all"}
-- depth = {type = "BIGINT", doc = "parts of the path to keep, modules below added up; if not given, all", optional = true}
-- [columns]
-- layer_path = {type = "VARCHAR", doc = "layer, or modules joined by /; (all): all of them"}
-- name = {type = "VARCHAR", doc = "run, or value of the label"}
-- forward_ns = {type = "DOUBLE", doc = "time of a step's forward pass; of several runs the mean"}
-- backward_ns = {type = "DOUBLE", doc = "time of its backward pass"}
-- step_ns = {type = "DOUBLE", doc = "time of both and of neither"}
-- forward_factor = {type = "DOUBLE", doc = "forward_ns / that of the baseline"}
-- backward_factor = {type = "DOUBLE", doc = "backward_ns / that of the baseline"}
-- step_factor = {type = "DOUBLE", doc = "step_ns / that of the baseline"}
-- reason = {type = "VARCHAR", doc = "why a time is NULL"}
-- run_count = {type = "BIGINT", doc = "runs that the times are the mean of"}
-- net_index = {type = "BIGINT", doc = "which net of a log, from 0"}
-- is_total = {type = "BOOLEAN", doc = "the row of all layers"}
WITH
named AS (
    SELECT
        run_group.run_id, run_group.label_number,
        CASE
            WHEN $by = 'label' AND $label IS NULL THEN error('by=label needs label=NAME')
            ELSE group_of($by, NULL, run_group.title, run_group.label_value)
        END AS name
    FROM run_group(NULL, $by, $label) AS run_group
    WHERE run_group.title GLOB $runs AND ($run_ids IS NULL OR list_contains(string_split($run_ids, ','), run_group.run_id))
),
layers AS (
    SELECT
        named.name, named.label_number, figures.run_id, coalesce(figures.net_index, 0) AS net_index, figures.layer_path,
        figures.layer_rank, figures.forward_step_ns, figures.backward_step_ns, figures.step_ns,
        CASE WHEN figures.basis = 'caffe time' THEN figures.reason ELSE 'no steps: a recording of another length cannot be compared' END AS reason
    FROM layer_figures(NULL, $phase, $depth) AS figures
    JOIN named ON named.run_id = figures.run_id
    WHERE named.name IS NOT NULL AND figures.layer_path GLOB $layers
),
every AS (
    SELECT *, false AS is_total FROM layers
    UNION ALL BY NAME
    SELECT
        name, any_value(label_number) AS label_number, run_id, net_index, '(all)' AS layer_path, true AS is_total,
        CASE WHEN bool_and(step_ns IS NOT NULL) THEN sum(forward_step_ns) END AS forward_step_ns,
        CASE WHEN bool_and(step_ns IS NOT NULL) THEN sum(backward_step_ns) END AS backward_step_ns,
        whole_sum(step_ns) AS step_ns,
        min(reason) FILTER (WHERE step_ns IS NULL) AS reason
    FROM layers
    GROUP BY name, run_id, net_index
),
grouped AS (
    SELECT
        name, net_index, layer_path, is_total,
        avg(forward_step_ns) AS forward_ns, avg(backward_step_ns) AS backward_ns, avg(step_ns) AS step_ns,
        first_reason(CASE WHEN step_ns IS NULL THEN reason END, 'runs') AS reason,
        count(DISTINCT run_id) AS run_count
    FROM every
    GROUP BY name, net_index, layer_path, is_total
),
places AS (
    SELECT net_index, layer_path, is_total, min(layer_rank) AS layer_rank FROM every GROUP BY net_index, layer_path, is_total
),
names AS (
    SELECT name, row_number() OVER (ORDER BY min(label_number) NULLS LAST, name) AS name_rank FROM every GROUP BY name
),
first AS (
    SELECT CASE
        WHEN $baseline IS NULL THEN arg_min(name, name_rank)
        WHEN bool_or(name = $baseline) THEN CAST($baseline AS VARCHAR)
        ELSE error('baseline: nothing is called ' || $baseline || '; there is: ' || coalesce(string_agg(name, ', ' ORDER BY name_rank), 'nothing'))
    END AS name
    FROM names
)
SELECT
    places.layer_path, names.name, found.forward_ns, found.backward_ns, found.step_ns,
    ratio(found.forward_ns, base.forward_ns) AS forward_factor,
    ratio(found.backward_ns, base.backward_ns) AS backward_factor,
    ratio(found.step_ns, base.step_ns) AS step_factor,
    CASE WHEN found.name IS NULL THEN 'no such layer in it' ELSE found.reason END AS reason,
    coalesce(found.run_count, 0) AS run_count, places.net_index, places.is_total
FROM places
CROSS JOIN names
CROSS JOIN first
LEFT JOIN grouped AS found
    ON found.name = names.name AND found.net_index = places.net_index AND found.layer_path = places.layer_path
LEFT JOIN grouped AS base
    ON base.name = first.name AND base.net_index = places.net_index AND base.layer_path = places.layer_path
ORDER BY places.net_index, places.is_total DESC, places.layer_rank, places.layer_path, names.name_rank
