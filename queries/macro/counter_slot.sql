-- purpose = "What the values of processor counters are added up over, and for how long: a
-- measurement, an interval, a scope or a control group."
-- source = "tables counter and measurement"
-- needs = ["measurement"]
-- depends = ["cut_interval", "whole_sum"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all runs"}
-- slot_kind = {type = "VARCHAR", doc = "measurement, interval, scope, interval_scope or cgroup"}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source"}
-- measurement_index = {type = "BIGINT", doc = "measurement"}
-- slot_index = {type = "BIGINT", doc = "interval"}
-- slot_name = {type = "VARCHAR", doc = "scope or control group"}
-- slot_key = {type = "VARCHAR", doc = "one of them as text, never NULL, to join with; blank where
-- there is neither"}
-- dur_ns = {type = "BIGINT", doc = "elapsed time that values are of, without that of intervals
-- that are cut; NULL if the file has none"}
-- end_ns = {type = "BIGINT", doc = "for an interval: its end, after the start of the measurement"}
with
    slots as (
        select
            run_id,
            source_id,
            measurement_index,
            case when starts_with(slot_kind, 'interval') then interval_index end as slot_index,
            case
                when ends_with(slot_kind, 'scope')
                then scope_name
                when slot_kind = 'cgroup'
                then cgroup_name
            end as slot_name,
            concat_ws(' ', slot_index, slot_name) as slot_key,
            max(dur_ns) as interval_ns,
            max(time_ns) as end_ns
        from counter
        where
            record_kind in ('event', 'metric')
            and (wanted_run is null or run_id = wanted_run)
            and (not starts_with(slot_kind, 'interval') or interval_index is not null)
        group by all
    ),
    -- a summary behind the intervals is of all of them
    summed as (
        select run_id, source_id, measurement_index
        from counter
        where
            record_kind = 'event'
            and measurement_index is not null
            and (wanted_run is null or run_id = wanted_run)
        group by all
        having not bool_or(interval_index is null)
    ),
    cut as (
        select run_id, source_id, measurement_index, whole_sum(dur_ns) as cut_ns
        from cut_interval(wanted_run)
        join summed using (run_id, source_id, measurement_index)
        group by all
    )
select
    slots.run_id,
    slots.source_id,
    slots.measurement_index,
    slots.slot_index,
    slots.slot_name,
    slots.slot_key,
    cast(
        case
            when starts_with(slot_kind, 'interval')
            then interval_ns
            when cut.run_id is null
            then measurement.dur_ns
            else measurement.dur_ns - cut_ns
        end as bigint
    ) as dur_ns,
    case when starts_with(slot_kind, 'interval') then end_ns end as end_ns
from slots
join
    (from measurement where wanted_run is null or run_id = wanted_run) as measurement using (
        run_id, source_id, measurement_index
    )
left join cut using (run_id, source_id, measurement_index)
