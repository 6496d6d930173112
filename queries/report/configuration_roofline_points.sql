-- purpose = "The points of a roofline of a sweep: one a row of a table of results, with what it does in one second, or in the time that a metric says."
-- source = "ParaDnn (Wang Y. E. 2020), sect. 4.2 and Fig. 3: models on a roofline by a hyperparameter, operators by class; docs/metrics.md, section Sweeps"
-- needs = ["configuration"]
-- depends = ["configuration_label", "configuration_work", "run_title"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- rate = {type = "VARCHAR", doc = "metric with the rate; if not given, that in FLOP/s, else that in % with flop in its name", optional = true}
-- intensity = {type = "VARCHAR", doc = "metric with the intensity or the traffic; if not given, that in FLOP/byte, else called intensity, else in bytes/s, else in % with bandwidth in its name", optional = true}
-- weight = {type = "VARCHAR", doc = "metric with the time of each (ns, us, ms, s, or % of a second); if not given, one second each", optional = true}
-- series = {type = "VARCHAR", doc = "labels that tell series apart, with commas between", optional = true}
-- ceiling = {type = "VARCHAR", doc = "compute peak: tensor_bf16, fp32 …; if not given, that of 16-bit matrix operations, else fp32", optional = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- run_name = {type = "VARCHAR", doc = "its name"}
-- name = {type = "VARCHAR", doc = "the label name, else the labels in one text"}
-- level_name = {type = "VARCHAR", doc = "dram"}
-- launch_count = {type = "BIGINT", doc = "1: a configuration"}
-- known_launch_count = {type = "BIGINT", doc = "1 where its figures are known, else 0"}
-- total_ns = {type = "BIGINT", doc = "the time that the weight says; NULL without one: a configuration has no time of its own"}
-- known_ns = {type = "BIGINT", doc = "that time, else one second"}
-- known_flop = {type = "DOUBLE", doc = "operations in it: rate x time"}
-- known_bytes = {type = "DOUBLE", doc = "bytes in it: operations / intensity, or traffic x time"}
-- compute_ns = {type = "DOUBLE", doc = "operations at peak; NULL where it is not known"}
-- bandwidth_ns = {type = "DOUBLE", doc = "bytes at the peak of memory; NULL where it is not known"}
-- launch_ns = {type = "DOUBLE", doc = "NULL: no launch is known"}
-- reason = {type = "VARCHAR", doc = "why the figures are not known"}
-- byte_definition = {type = "VARCHAR", doc = "table: as the table of results says"}
-- device_name = {type = "VARCHAR", doc = "device; NULL if unknown"}
-- source_id = {type = "VARCHAR", doc = "source of the table"}
-- event_id = {type = "BIGINT", doc = "row of the table"}
-- zero_launch_count = {type = "BIGINT", doc = "1 where it is known that there was no operation, else 0"}
-- zero_ns = {type = "BIGINT", doc = "its time then"}
-- op_class = {type = "VARCHAR", doc = "NULL"}
-- series_name = {type = "VARCHAR", doc = "value of the label that tells series apart, of several label=value; NULL without any"}
-- series_number = {type = "DOUBLE", doc = "the value as a number; NULL if it is none, or of several labels"}
WITH
labels AS (FROM configuration_label WHERE $run_id IS NULL OR run_id = $run_id),
wanted AS (
    SELECT
        CASE
            WHEN EXISTS (FROM labels WHERE label_name = trim(part)) OR NOT EXISTS (FROM labels) THEN trim(part)
            ELSE error('no configuration has the label ' || trim(part) || '; there are: ' || coalesce((SELECT string_agg(DISTINCT label_name, ', ' ORDER BY label_name) FROM labels), 'none'))
        END AS label_name
    FROM (SELECT unnest(string_split($series, ',')) AS part)
    WHERE $series IS NOT NULL
),
work AS MATERIALIZED (FROM configuration_work($run_id, $rate, $intensity, $weight, $ceiling)),
own AS (
    SELECT configuration_id, label_name, label_number, coalesce(format('{:.15g}', label_number), label_value) AS label_text
    FROM labels
    WHERE label_name IN (FROM wanted)
),
series AS (
    SELECT
        configuration_id, any_value(label_number) AS series_number,
        CASE WHEN (SELECT count(*) FROM wanted) = 1 THEN any_value(label_text) ELSE array_to_string(list_sort(list(label_name || '=' || label_text)), ', ') END AS series_name
    FROM own
    GROUP BY configuration_id
),
unnamed AS (FROM work WHERE name IS NULL),
names AS (
    SELECT configuration_id, label_value AS name FROM labels WHERE label_name = 'name'
),
texts AS (
    SELECT configuration_id, array_to_string(list_sort(list(label_name || '=' || label_value)), ', ') AS name
    FROM labels
    WHERE configuration_id IN (SELECT configuration_id FROM unnamed)
    GROUP BY configuration_id
)
SELECT
    work.run_id, run_title.title AS run_name, coalesce(names.name, work.name, texts.name) AS name, 'dram' AS level_name,
    CAST(1 AS BIGINT) AS launch_count,
    CAST(work.reason IS NULL AS BIGINT) AS known_launch_count,
    CAST(total_ns AS BIGINT) AS total_ns, CAST(known_ns AS BIGINT) AS known_ns, known_flop, known_bytes,
    known_flop * flop_ns AS compute_ns, known_bytes * byte_ns AS bandwidth_ns,
    CAST(NULL AS DOUBLE) AS launch_ns, work.reason, CASE WHEN work.reason IS NULL THEN 'table' END AS byte_definition,
    device_name, work.source_id, work.event_id,
    CAST(coalesce(known_flop = 0, false) AS BIGINT) AS zero_launch_count,
    CASE WHEN known_flop = 0 THEN CAST(known_ns AS BIGINT) ELSE 0 END AS zero_ns,
    CAST(NULL AS VARCHAR) AS op_class,
    CASE WHEN $series IS NOT NULL THEN coalesce(series_name, 'no ' || (SELECT string_agg(label_name, ', ') FROM wanted)) END AS series_name,
    CASE WHEN (SELECT count(*) FROM wanted) = 1 THEN series_number END AS series_number
FROM work
JOIN (FROM run_title WHERE $run_id IS NULL OR run_id = $run_id) AS run_title USING (run_id)
LEFT JOIN names USING (configuration_id)
LEFT JOIN texts USING (configuration_id)
LEFT JOIN series USING (configuration_id)
ORDER BY work.configuration_id
