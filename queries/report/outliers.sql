-- purpose = "The configurations of a sweep whose metric lies beyond the 2nd or the 98th percentile of their group."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 11: bars at the 2nd and 98th percentiles; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["sweep_kept", "sweep_label", "sweep_metric", "sweep_unknown", "label_value"]
-- [parameters]
-- metric = {type = "VARCHAR", doc = "metric, e.g. infeed"}
-- by = {type = "VARCHAR", doc = "label whose values tell groups apart, e.g. batch"}
-- fixed = {type = "VARCHAR", doc = "values of other labels, with commas between: layer=4,input=2000; if not given, all", optional = true}
-- runs = {type = "VARCHAR", doc = "names of runs, * for any letters", default = "*"}
-- run_ids = {type = "VARCHAR", doc = "ids of runs, with commas between; if not given, all", optional = true}
-- [columns]
-- group_value = {type = "VARCHAR", doc = "value of the label, as this configuration has it"}
-- metric_value = {type = "DOUBLE", doc = "the metric"}
-- configuration = {type = "VARCHAR", doc = "its labels: layer=4, node=32"}
-- run_name = {type = "VARCHAR", doc = "the run"}
-- p02_value = {type = "DOUBLE", doc = "2nd percentile of its group"}
-- p98_value = {type = "DOUBLE", doc = "98th percentile of its group"}
-- group_number = {type = "DOUBLE", doc = "the value of the label as a number; NULL if it is none"}
-- group_name = {type = "VARCHAR", doc = "the label"}
-- metric_name = {type = "VARCHAR", doc = "the metric"}
-- unit = {type = "VARCHAR", doc = "its unit, where the file says it"}
-- run_id = {type = "VARCHAR", doc = "the run"}
-- source_id = {type = "VARCHAR", doc = "source of the table; the word run for a run that is a configuration itself"}
-- event_id = {type = "BIGINT", doc = "row of the table; 0 for such a run"}
WITH
known AS (
    FROM sweep_unknown('label', $by)
    UNION ALL FROM sweep_unknown('metric', $metric)
),
measured AS (
    SELECT
        here.run_id, here.source_id, here.event_id, here.title AS run_name,
        grouped.label_value AS group_value, grouped.label_number AS group_number,
        CASE WHEN grouped.label_number IS NULL THEN grouped.label_value END AS group_word,
        found.metric_value, found.unit
    FROM sweep_kept($runs, $run_ids, $fixed) AS here
    JOIN sweep_label($by) AS grouped USING (run_id, source_id, event_id)
    JOIN sweep_metric($metric) AS found USING (run_id, source_id, event_id)
),
limits AS (
    SELECT group_number, group_word, quantile_cont(metric_value, [0.02, 0.98]) AS marks
    FROM measured
    GROUP BY group_number, group_word
),
beyond AS (
    SELECT measured.*, marks[1] AS p02_value, marks[2] AS p98_value
    FROM measured
    JOIN limits
        ON limits.group_number IS NOT DISTINCT FROM measured.group_number
        AND limits.group_word IS NOT DISTINCT FROM measured.group_word
    WHERE metric_value < marks[1] OR metric_value > marks[2]
),
own AS (
    SELECT run_id, source_id, event_id, told.column_name AS label_name, told.value_text AS label_value
    FROM beyond
    JOIN configuration_value AS told USING (run_id, source_id, event_id)
    WHERE told.role_kind = 'label'
    UNION
    SELECT run_id, source_id, event_id, given.label_name, given.label_value
    FROM beyond
    JOIN label_value AS given USING (run_id)
    WHERE NOT EXISTS (
        SELECT 1 FROM configuration_value AS told
        WHERE told.run_id = beyond.run_id AND told.source_id = beyond.source_id AND told.role_kind = 'label' AND told.column_name = given.label_name
    )
),
told AS (
    SELECT run_id, source_id, event_id, string_agg(label_name || '=' || label_value, ', ' ORDER BY label_name) AS configuration
    FROM own
    GROUP BY run_id, source_id, event_id
)
SELECT
    group_value, metric_value, told.configuration, run_name, p02_value, p98_value, group_number,
    CAST($by AS VARCHAR) AS group_name, CAST($metric AS VARCHAR) AS metric_name, unit, run_id, source_id, event_id
FROM beyond
LEFT JOIN told USING (run_id, source_id, event_id)
WHERE NOT EXISTS (FROM known)
ORDER BY group_number NULLS LAST, group_word, metric_value, run_id, source_id, event_id
