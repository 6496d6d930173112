-- purpose = "Intervals of processor counters that lack a value that the others have: the file is cut or was edited there. No figure is of them."
-- source = "docs/metrics.md, section Processor counters: a part is never shown as the whole"
-- needs = ["measurement"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- measurement_index = {type = "BIGINT", doc = "measurement"}
-- interval_index = {type = "BIGINT", doc = "interval"}
-- dur_ns = {type = "BIGINT", doc = "its length"}
WITH
intervals AS (
    SELECT
        counter.run_id, counter.source_id, counter.measurement_index, counter.interval_index,
        max(counter.dur_ns) AS dur_ns,
        -- threads come and go
        count(DISTINCT (counter.event_key, counter.modifier_name, counter.pmu_name, counter.cgroup_name, CASE WHEN measurement.aggregation_kind IS DISTINCT FROM 'thread' THEN counter.scope_name END)) AS value_count
    FROM (FROM counter WHERE record_kind = 'event' AND interval_index IS NOT NULL AND (wanted_run IS NULL OR run_id = wanted_run)) AS counter
    JOIN (FROM measurement WHERE wanted_run IS NULL OR run_id = wanted_run) AS measurement USING (run_id, source_id, measurement_index)
    GROUP BY ALL
),
usual AS (
    SELECT run_id, source_id, measurement_index, value_count
    FROM intervals
    GROUP BY run_id, source_id, measurement_index, value_count
    QUALIFY row_number() OVER (PARTITION BY run_id, source_id, measurement_index ORDER BY count(*) DESC, value_count DESC) = 1
)
SELECT intervals.run_id, intervals.source_id, intervals.measurement_index, intervals.interval_index, intervals.dur_ns
FROM intervals JOIN usual USING (run_id, source_id, measurement_index)
WHERE intervals.value_count < usual.value_count
