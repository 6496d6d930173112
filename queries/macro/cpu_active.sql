-- purpose = "For how long CPUs were active in each measurement, interval, scope or control group: by the clock of the program, its user and system time, or cycles awake."
-- source = "Zhu 2018 (TBD), eq. 3: active time; Linux include/uapi/linux/perf_event.h: task-clock"
-- needs = ["measurement"]
-- depends = ["counter_slot", "event_quantity", "cpu_known"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- slot_kind = {type = "VARCHAR", doc = "measurement, interval, scope, interval_scope or cgroup"}
-- wanted_cpus = {type = "BIGINT", doc = "CPUs of a node; NULL: as the file says, else the cores of the processor"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- measurement_index = {type = "BIGINT", doc = "measurement"}
-- slot_index = {type = "BIGINT", doc = "interval"}
-- slot_name = {type = "VARCHAR", doc = "scope or control group"}
-- slot_key = {type = "VARCHAR", doc = "one of them as text, never NULL, to join with; blank where there is neither"}
-- target_name = {type = "VARCHAR", doc = "what was measured"}
-- dur_ns = {type = "BIGINT", doc = "elapsed time"}
-- end_ns = {type = "BIGINT", doc = "of an interval: its end, after the start of the measurement"}
-- cpus = {type = "BIGINT", doc = "CPUs that are there"}
-- cpu_basis = {type = "VARCHAR", doc = "given, file or processor (its cores)"}
-- active_basis = {type = "VARCHAR", doc = "task-clock, times (user and system) or mperf"}
-- active_ns = {type = "DOUBLE", doc = "time that CPUs were active; NULL where that is not known, or cannot be"}
-- is_of_all = {type = "BOOLEAN", doc = "the clocks are of all CPUs, whether they work or not"}
-- running_ratio = {type = "DOUBLE", doc = "share of the time that it was counted"}
-- reason = {type = "VARCHAR", doc = "why the active time, or the elapsed time, is NULL"}
WITH
-- measurements may have no events
slots AS (
    SELECT
        measurement.run_id, measurement.source_id, measurement.measurement_index, measurement.target_name, measurement.target_kind,
        measurement.aggregation_kind, measurement.user_ns, measurement.system_ns, measurement.cpu_count,
        slot.slot_index, slot.slot_name, coalesce(slot.slot_key, '') AS slot_key, slot.end_ns,
        CASE WHEN slot.slot_key IS NULL THEN measurement.dur_ns ELSE slot.dur_ns END AS dur_ns
    FROM (FROM measurement WHERE wanted_run IS NULL OR run_id = wanted_run) AS measurement
    LEFT JOIN counter_slot(wanted_run, slot_kind) AS slot USING (run_id, source_id, measurement_index)
    WHERE slot.slot_key IS NOT NULL OR slot_kind = 'measurement'
),
clocks AS (
    SELECT
        run_id, source_id, measurement_index, slot_key,
        any_value(quantity) FILTER (WHERE quantity_kind = 'task_clock') AS task_ns,
        any_value(running_ratio) FILTER (WHERE quantity_kind = 'task_clock') AS task_ratio,
        bool_or(quantity_kind = 'task_clock') AS has_task_clock,
        bool_or(quantity_kind = 'cpu_clock') AS has_cpu_clock,
        ratio(
            any_value(quantity) FILTER (WHERE quantity_kind = 'active_cycle'), any_value(quantity) FILTER (WHERE quantity_kind = 'reference_cycle')
        ) AS awake_ratio,
        min(running_ratio) FILTER (WHERE quantity_kind IN ('active_cycle', 'reference_cycle')) AS cycle_ratio
    FROM event_quantity(wanted_run, slot_kind, false)
    WHERE quantity_kind IN ('task_clock', 'cpu_clock', 'active_cycle', 'reference_cycle')
    GROUP BY ALL
),
-- the unit of a clock is not what it seems
doubted AS (
    SELECT DISTINCT run_id, source_id FROM ingest_issue WHERE code = 'clock_contradicts_time' AND (wanted_run IS NULL OR run_id = wanted_run)
),
measured AS (
    SELECT
        slots.run_id, slots.source_id, slots.measurement_index, slots.slot_index, slots.slot_name, slots.slot_key, slots.target_name, slots.dur_ns, slots.end_ns,
        -- the clocks of all CPUs run whether they work or not
        coalesce(
            slots.target_kind IN ('system', 'cpu')
            OR (slots.aggregation_kind NOT IN ('total', 'thread') AND slots.aggregation_kind IS NOT NULL)
            OR (coalesce(has_cpu_clock, false) AND NOT coalesce(has_task_clock, false)), false
        ) AS is_of_all,
        coalesce(wanted_cpus, slots.cpu_count, cpu_known.core_count) AS cpus,
        CASE WHEN wanted_cpus IS NOT NULL THEN 'given' WHEN slots.cpu_count IS NOT NULL THEN 'file' WHEN cpu_known.core_count IS NOT NULL THEN 'processor' END AS cpu_basis,
        CASE
            WHEN awake_ratio IS NOT NULL AND slot_kind IN ('measurement', 'interval') THEN 'mperf'
            WHEN is_of_all THEN NULL
            WHEN task_ns IS NOT NULL THEN 'task-clock'
            WHEN slot_kind = 'measurement' AND slots.user_ns IS NOT NULL AND slots.system_ns IS NOT NULL THEN 'times'
        END AS active_basis,
        CASE active_basis
            WHEN 'mperf' THEN awake_ratio * cpus * slots.dur_ns
            WHEN 'task-clock' THEN task_ns
            WHEN 'times' THEN slots.user_ns + slots.system_ns
        END AS said_ns,
        CASE active_basis WHEN 'mperf' THEN cycle_ratio WHEN 'task-clock' THEN task_ratio END AS running_ratio,
        has_task_clock,
        active_basis = 'task-clock' AND doubted.run_id IS NOT NULL AS is_doubted
    FROM slots
    LEFT JOIN clocks USING (run_id, source_id, measurement_index, slot_key)
    LEFT JOIN (FROM cpu_known WHERE wanted_run IS NULL OR run_id = wanted_run) AS cpu_known USING (run_id, source_id)
    LEFT JOIN doubted USING (run_id, source_id)
)
SELECT
    run_id, source_id, measurement_index, slot_index, slot_name, slot_key, target_name, dur_ns, end_ns, cpus, cpu_basis, active_basis,
    CASE WHEN NOT coalesce(is_doubted, false) THEN said_ns END AS active_ns,
    is_of_all, running_ratio,
    CASE
        WHEN is_doubted THEN 'task-clock contradicts the elapsed time, see tracekit issues'
        WHEN active_basis IS NULL AND is_of_all THEN 'of all CPUs the clocks run on while they sleep: measure msr/mperf/ and msr/tsc/'
        WHEN active_basis IS NULL AND has_task_clock THEN 'task-clock was not counted all the time'
        WHEN active_basis IS NULL THEN 'task-clock was not collected'
        WHEN dur_ns IS NULL THEN 'the file has no elapsed time'
    END AS reason
FROM measured
