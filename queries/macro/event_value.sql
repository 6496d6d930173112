-- purpose = "Values of processor events, one per row; 0 for an interval in which the program did
-- not run."
-- source = "table counter; tools/perf/util/stat-display.c (print_running): 100 % of no time"
-- needs = ["counter"]
-- parameters = "wanted_run"
-- columns = "run_id source_id measurement_index event_id event_key event_name pmu_name
-- modifier_name interval_index scope_name cgroup_name value unit status_kind running_ratio
-- stddev"
-- event_key = "VARCHAR: event in one spelling"
-- pmu_name = "VARCHAR: unit that counted, if named"
-- modifier_name = "VARCHAR: letters behind the event"
-- scope_name = "VARCHAR: scope of the value; NULL: everything"
-- cgroup_name = "VARCHAR: control group that the value is of"
-- value = "value in base units; 0 if the event was enabled for no time in an interval, but
-- counted in another or in all"
-- unit = "base unit of the value; NULL for a plain count"
-- status_kind = "as in `counter`; ok if the value is such a 0"
-- running_ratio = "share of its enabled time in which it was counted; 1 if enabled for no time"
-- stddev = "DOUBLE: standard error of the mean over repeats"
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
