-- purpose = "The configurations of a sweep whose metric lies beyond the 2nd or the 98th percentile of their group."
-- source = "ParaDnn (Wang Y. E. 2020), Fig. 11: bars at the 2nd and 98th percentiles; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["configuration_label", "sweep_kept", "sweep_label", "sweep_metric", "sweep_units", "sweep_unknown"]
-- [parameters]
-- metric = {type = "VARCHAR", doc = "metric, e.g. infeed; if not given, the only one there is", optional = true, chosen_by = "sweep_choice('metric', $runs, $run_ids)"}
-- by = {type = "VARCHAR", doc = "label whose values tell groups apart, e.g. batch; if not given, the only one with several values", optional = true, chosen_by = "sweep_choice('group', $runs, $run_ids)"}
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
    UNION ALL FROM sweep_units($metric, $runs, $run_ids)
),
measured AS (
    SELECT
        here.configuration_id, here.run_id, here.source_id, here.event_id, here.title AS run_name,
        grouped.label_value AS group_value, grouped.label_number AS group_number,
        CASE WHEN grouped.label_number IS NULL THEN grouped.label_value END AS group_word,
        found.metric_value, found.unit
    FROM sweep_kept($runs, $run_ids, $fixed) AS here
    JOIN sweep_label($by) AS grouped USING (configuration_id)
    JOIN sweep_metric($metric) AS found USING (configuration_id)
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
told AS (
    SELECT configuration_id, string_agg(label_name || '=' || label_value, ', ' ORDER BY label_name) AS configuration
    FROM configuration_label
    WHERE configuration_id IN (SELECT configuration_id FROM beyond)
    GROUP BY configuration_id
)
SELECT
    group_value, metric_value, told.configuration, run_name, p02_value, p98_value, group_number,
    CAST($by AS VARCHAR) AS group_name, CAST($metric AS VARCHAR) AS metric_name, unit, run_id, source_id, event_id
FROM beyond
LEFT JOIN told USING (configuration_id)
WHERE NOT EXISTS (FROM known)
ORDER BY group_number NULLS LAST, group_word, metric_value, run_id, source_id, event_id
