-- purpose = "What the values of processor counters are added up over, and for how long: a measurement, an interval, a scope or a control group."
-- source = "tables counter and measurement"
-- needs = ["measurement"]
-- depends = ["cut_interval", "whole_sum"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- slot_kind = {type = "VARCHAR", doc = "measurement, interval, scope, interval_scope or cgroup"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- measurement_index = {type = "BIGINT", doc = "measurement"}
-- slot_index = {type = "BIGINT", doc = "interval"}
-- slot_name = {type = "VARCHAR", doc = "scope or control group"}
-- slot_key = {type = "VARCHAR", doc = "one of them as text, never NULL, to join with; blank where there is neither"}
-- dur_ns = {type = "BIGINT", doc = "elapsed time that values are of, without that of intervals that are cut; NULL where the file has none"}
-- end_ns = {type = "BIGINT", doc = "of an interval: its end, after the start of the measurement"}
WITH
slots AS (
    SELECT
        run_id, source_id, measurement_index,
        CASE WHEN starts_with(slot_kind, 'interval') THEN interval_index END AS slot_index,
        CASE WHEN ends_with(slot_kind, 'scope') THEN scope_name WHEN slot_kind = 'cgroup' THEN cgroup_name END AS slot_name,
        concat_ws(' ', slot_index, slot_name) AS slot_key,
        max(dur_ns) AS interval_ns,
        max(time_ns) AS end_ns
    FROM counter
    WHERE
        record_kind IN ('event', 'metric')
        AND (wanted_run IS NULL OR run_id = wanted_run)
        AND (NOT starts_with(slot_kind, 'interval') OR interval_index IS NOT NULL)
    GROUP BY ALL
),
-- a summary behind the intervals is of all of them
summed AS (
    SELECT run_id, source_id, measurement_index
    FROM counter
    WHERE record_kind = 'event' AND measurement_index IS NOT NULL AND (wanted_run IS NULL OR run_id = wanted_run)
    GROUP BY ALL
    HAVING NOT bool_or(interval_index IS NULL)
),
cut AS (
    SELECT run_id, source_id, measurement_index, whole_sum(dur_ns) AS cut_ns
    FROM cut_interval(wanted_run) JOIN summed USING (run_id, source_id, measurement_index)
    GROUP BY ALL
)
SELECT
    slots.run_id, slots.source_id, slots.measurement_index, slots.slot_index, slots.slot_name, slots.slot_key,
    CAST(
        CASE
            WHEN starts_with(slot_kind, 'interval') THEN interval_ns
            WHEN cut.run_id IS NULL THEN measurement.dur_ns
            ELSE measurement.dur_ns - cut_ns
        END AS BIGINT
    ) AS dur_ns,
    CASE WHEN starts_with(slot_kind, 'interval') THEN end_ns END AS end_ns
FROM slots
JOIN (FROM measurement WHERE wanted_run IS NULL OR run_id = wanted_run) AS measurement USING (run_id, source_id, measurement_index)
LEFT JOIN cut USING (run_id, source_id, measurement_index)
