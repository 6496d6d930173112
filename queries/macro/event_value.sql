-- purpose = "What processors counted of each event, a value a row; where the program did not run
-- in an interval, it is 0."
-- source = "table counter; tools/perf/util/stat-display.c (print_running): 100 % of no time"
-- needs = ["counter"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all runs"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- measurement_index = {type = "BIGINT", doc = "measurement"}
-- event_id = {type = "BIGINT", doc = "place of the event in the source"}
-- event_key = {type = "VARCHAR", doc = "the event in one spelling"}
-- event_name = {type = "VARCHAR", doc = "event as recorded"}
-- pmu_name = {type = "VARCHAR", doc = "unit that counted, where it is named"}
-- modifier_name = {type = "VARCHAR", doc = "letters behind the event"}
-- interval_index = {type = "BIGINT", doc = "interval; NULL: of the measurement"}
-- scope_name = {type = "VARCHAR", doc = "what the value is of; NULL: everything"}
-- cgroup_name = {type = "VARCHAR", doc = "control group that the value is of"}
-- value = {type = "DOUBLE", doc = "value in base units; 0 if the event was enabled for no time in
-- an interval, and counted in another or in all"}
-- unit = {type = "VARCHAR", doc = "base unit of the value; NULL for a plain count"}
-- status_kind = {type = "VARCHAR", doc = "as in `counter`; ok where the value is such a 0"}
-- running_ratio = {type = "DOUBLE", doc = "share of the time it was enabled in which it was
-- counted; 1 of no time"}
-- stddev = {type = "DOUBLE", doc = "standard error of the mean over repeats"}
with
    -- right over the files, a window makes DuckDB 2.0 look into those of every run
    counted as materialized(
        select
            run_id,
            source_id,
            measurement_index,
            event_id,
            event_key,
            event_name,
            pmu_name,
            modifier_name,
            interval_index,
            scope_name,
            cgroup_name,
            value,
            unit,
            status_kind,
            running_ratio,
            stddev
        from counter
        where record_kind = 'event' and (wanted_run is null or run_id = wanted_run)
    )
select
    * exclude (is_idle) replace (
        case when is_idle then 0 else value end as value,
        case when is_idle then 'ok' else status_kind end as status_kind
    )
from
    (
        select
            *,
            (
                status_kind = 'not_counted'
                and interval_index is not null
                and running_ratio = 1
                and bool_or(value is not null) over (
                    partition by run_id, source_id, measurement_index, event_key
                )
            ) as is_idle
        from counted
    )
