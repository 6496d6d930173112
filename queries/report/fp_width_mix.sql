-- purpose = "Floating-point instructions of processors by precision and vector width: how much of the work each does."
-- source = "Javed 2019, sect. 4.2 and 5.2 (Fig. 10, 15)"
-- needs = ["measurement"]
-- depends = ["event_quantity", "figure_set", "run_title", "whole_sum", "first_reason"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- by = {type = "VARCHAR", doc = "what is added up: run, source (a file) or measurement", default = "run", choices = ["run", "source", "measurement"]}
-- [columns]
-- name = {type = "VARCHAR", doc = "run, file, or what was measured"}
-- precision_name = {type = "VARCHAR", doc = "fp64, fp32, fp16 or any (not told apart)"}
-- width_name = {type = "VARCHAR", doc = "scalar, 128, 256, 512 bits, scalable or any"}
-- inst_count = {type = "DOUBLE", doc = "instructions, an FMA counted as two; NULL if not counted"}
-- inst_share_ratio = {type = "DOUBLE", doc = "share of all floating-point instructions; NULL unless all were counted"}
-- total_flop = {type = "DOUBLE", doc = "their operations"}
-- flop_share_ratio = {type = "DOUBLE", doc = "share of all operations; NULL unless all were counted"}
-- reason = {type = "VARCHAR", doc = "why they are NULL"}
-- run_id = {type = "VARCHAR", doc = "run"}
WITH
counted AS (
    SELECT * FROM event_quantity($run_id, 'measurement', false) WHERE quantity_kind = 'flop'
),
-- what belongs to a figure of which at least one event was counted, and was not collected
known AS (
    SELECT DISTINCT event_name, precision_name, width_name FROM event_model WHERE quantity_kind = 'flop'
),
begun AS (
    SELECT DISTINCT counted.run_id, counted.source_id, counted.measurement_index, figure_set.set_name
    FROM counted
    JOIN figure_set($run_id) AS figure_set USING (run_id, source_id, event_name)
    WHERE figure_set.figure_name IN ('fp64', 'fp32')
    QUALIFY dense_rank() OVER (
        PARTITION BY counted.run_id, counted.source_id, counted.measurement_index, figure_set.figure_name
        ORDER BY figure_set.set_rank, figure_set.set_name
    ) = 1
),
expected AS (
    SELECT DISTINCT begun.run_id, begun.source_id, begun.measurement_index, known.event_name, known.precision_name, known.width_name
    FROM begun
    JOIN figure_set($run_id) AS figure_set USING (run_id, source_id, set_name)
    JOIN known ON known.event_name = figure_set.event_name
),
every AS (
    SELECT
        run_id, source_id, measurement_index,
        coalesce(counted.precision_name, expected.precision_name) AS precision_name,
        coalesce(counted.width_name, expected.width_name) AS width_name,
        counted.quantity, ratio(counted.quantity, counted.amount) AS inst_count,
        CASE WHEN counted.quantity IS NULL THEN event_name || ': ' || coalesce(counted.reason, 'not_collected') END AS reason
    FROM counted
    FULL JOIN expected USING (run_id, source_id, measurement_index, event_name)
),
grouped AS (
    SELECT
        every.run_id,
        CASE WHEN $by <> 'run' THEN every.source_id END AS owner_id,
        CASE WHEN $by = 'measurement' THEN every.measurement_index END AS part_index,
        precision_name, width_name,
        whole_sum(inst_count) AS inst_count,
        whole_sum(quantity) AS total_flop,
        first_reason(reason, 'counts') AS reason
    FROM every
    GROUP BY ALL
),
shared AS (
    SELECT
        *,
        CASE WHEN count(inst_count) OVER part = count(*) OVER part THEN ratio(inst_count, sum(inst_count) OVER part) END AS inst_share_ratio,
        CASE WHEN count(total_flop) OVER part = count(*) OVER part THEN ratio(total_flop, sum(total_flop) OVER part) END AS flop_share_ratio
    FROM grouped
    WINDOW part AS (PARTITION BY run_id, owner_id, part_index)
),
file AS (
    SELECT run_id, source_id, any_value(file_name) AS file_name FROM source_file WHERE $run_id IS NULL OR run_id = $run_id GROUP BY run_id, source_id
)
SELECT
    CASE $by WHEN 'run' THEN run_title.title WHEN 'source' THEN file_name ELSE coalesce(measurement.target_name, file_name) END AS name,
    precision_name, width_name, inst_count, inst_share_ratio, total_flop, flop_share_ratio, reason, shared.run_id
FROM shared
JOIN (FROM run_title WHERE $run_id IS NULL OR run_id = $run_id) AS run_title USING (run_id)
LEFT JOIN file ON file.run_id = shared.run_id AND file.source_id = shared.owner_id
LEFT JOIN (FROM measurement WHERE $run_id IS NULL OR run_id = $run_id) AS measurement ON measurement.run_id = shared.run_id AND measurement.source_id = shared.owner_id AND measurement.measurement_index = shared.part_index
ORDER BY
    run_title.title, shared.run_id, file_name, owner_id, part_index,
    list_position(['fp64', 'fp32', 'fp16', 'any'], precision_name),
    list_position(['scalar', '128', '256', '512', 'scalable', 'any'], width_name)
