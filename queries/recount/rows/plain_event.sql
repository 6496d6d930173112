-- purpose = "Events of perf that were counted once for all of a measurement: one row per
-- measurement, an event per entry of the map."
select
    source_id,
    measurement_index,
    map_from_entries(list((event_key, value))) as value_of,
    map_from_entries(list((event_key, running_ratio))) as running_of
from counter
where
    run_id = $run_id
    and record_kind = 'event'
    and event_key is not null
    and value is not null
    -- each event once, and no part of one
    and (source_id, measurement_index) not in (
        select (source_id, measurement_index)
        from counter
        where
            run_id = $run_id
            and (
                coalesce(scope_name, cgroup_name, modifier_name) is not null
                or interval_index is not null
            )
    )
    and (source_id, measurement_index, event_key) not in (
        select (source_id, measurement_index, event_key)
        from counter
        where run_id = $run_id and record_kind = 'event' and event_key is not null
        group by source_id, measurement_index, event_key
        having count(*) > 1
    )
group by source_id, measurement_index
