-- purpose = "What values of processor counters are summed over, and its duration: a measurement,
-- an interval, a scope or a control group."
-- source = "tables counter and measurement"
-- needs = ["measurement"]
-- depends = ["cut_interval", "whole_sum"]
-- parameters = "wanted_run slot_kind"
-- columns = "run_id source_id measurement_index slot_index slot_name slot_key dur_ns
-- end_ns-interval"
-- dur_ns = "elapsed time of the values, without truncated intervals; NULL if the file has none"
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
        where record_kind = 'event' and (wanted_run is null or run_id = wanted_run)
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
