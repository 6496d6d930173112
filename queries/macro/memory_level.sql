-- purpose = "Memory after each change, of its kind and in total, and when the total was largest."
-- source = "docs/metrics.md, section Memory by kind"
-- needs = ["allocation", "attribution", "memory_event"]
-- depends = ["memory_change", "step_window"]
-- parameters = "wanted_run-one wanted_phase"
-- columns = "source_id process_id device_kind device_id-memory pool_index event_id time_ns
-- step_index kind context_id change_bytes kind_bytes known_bytes all_bytes reserved_bytes place
-- is_wanted is_level is_level_of_kind peak_place is_counted"
-- pool_index = "BIGINT: number of the allocator (source, process and device)"
-- event_id = "memory_event; NULL if a lost release is assumed"
-- kind = "VARCHAR: as in memory_change"
-- change_bytes = "BIGINT: change of the kind"
-- kind_bytes = "BIGINT: bytes of its kind after it"
-- known_bytes = "BIGINT: bytes of all kinds after it"
-- all_bytes = "BIGINT: all bytes after it: the profiler's total, else known_bytes"
-- reserved_bytes = "BIGINT: reserved bytes after it; NULL if not recorded"
-- place = "BIGINT: number of the change in its pool, from 1"
-- is_wanted = "BOOLEAN: it is in the requested steps"
-- is_level = "BOOLEAN: known_bytes and all_bytes are levels in these steps"
-- is_level_of_kind = "BOOLEAN: kind_bytes is a level in these steps"
-- peak_place = "BIGINT: first of these changes with the maximum of all_bytes; NULL if unknown"
-- is_counted = "BOOLEAN: the pool has totals: all_bytes are the profiler's"
with
    windows as (
        select source_id, first_step_index, last_step_index
        from step_window(wanted_run, wanted_phase)
    ),
    changes as materialized(from memory_change(wanted_run)),
    pools as materialized(
        select
            source_id,
            process_id,
            device_kind,
            device_id,
            row_number() over (
                order by source_id, process_id, device_kind, device_id
            ) as pool_index,
            bool_or(total_allocated_bytes is not null) as is_counted,
            bool_or(kind is not null) as has_blocks
        from changes
        group by source_id, process_id, device_kind, device_id
    ),
    running as (
        select
            -- what is sorted must be narrow
            changes.event_id,
            changes.time_ns,
            changes.step_index,
            changes.kind,
            changes.context_id,
            changes.change_bytes,
            changes.total_reserved_bytes as reserved_bytes,
            pools.pool_index,
            -- a source without work on a device has no window: all of it is asked for, or none
            case
                when windows.first_step_index is null
                then wanted_phase = 'all'
                else
                    coalesce(
                        changes.step_index
                        between windows.first_step_index and windows.last_step_index,
                        false
                    )
            end as is_wanted,
            cast(sum(changes.change_bytes) over of_kind as bigint) as kind_bytes,
            cast(sum(changes.change_bytes) over of_pool as bigint) as known_bytes,
            row_number() over of_pool as place,
            lead(changes.time_ns) over of_kind as next_of_kind_ns,
            case
                when pools.is_counted
                then changes.total_allocated_bytes
                when pools.has_blocks
                then known_bytes
            end as all_bytes
        from changes
        join
            pools
            on pools.source_id = changes.source_id
            and pools.process_id is not distinct from changes.process_id
            and pools.device_kind is not distinct from changes.device_kind
            and pools.device_id is not distinct from changes.device_id
        left join windows on windows.source_id = changes.source_id
        window
            of_pool as (
                partition by pools.pool_index
                order by
                    changes.time_ns,
                    changes.event_id nulls first,
                    changes.change_bytes,
                    changes.kind,
                    changes.context_id
                rows unbounded preceding
            ),
            of_kind as (
                partition by pools.pool_index, changes.kind
                order by
                    changes.time_ns,
                    changes.event_id nulls first,
                    changes.change_bytes,
                    changes.kind,
                    changes.context_id
                rows unbounded preceding
            )
    ),
    bounds as materialized(
        select pool_index, min(time_ns) as start_ns, max(time_ns) as end_ns
        from running
        where is_wanted
        group by pool_index
    ),
    levels as materialized(
        select
            running.*,
            coalesce(time_ns between start_ns and end_ns, false) as is_level,
            coalesce(
                time_ns <= end_ns
                and (time_ns >= start_ns or coalesce(next_of_kind_ns > start_ns, true)),
                false
            ) as is_level_of_kind
        from running
        left join bounds using (pool_index)
    ),
    tops as (
        select pool_index, max(all_bytes) as top_bytes
        from levels
        where is_level
        group by pool_index
    ),
    peaks as (
        select pool_index, min(place) as peak_place
        from levels
        join tops using (pool_index)
        where is_level and all_bytes = top_bytes
        group by pool_index
    )
select
    pools.source_id,
    pools.process_id,
    pools.device_kind,
    pools.device_id,
    pool_index,
    event_id,
    time_ns,
    step_index,
    kind,
    context_id,
    change_bytes,
    kind_bytes,
    known_bytes,
    all_bytes,
    reserved_bytes,
    place,
    is_wanted,
    is_level,
    is_level_of_kind,
    peaks.peak_place,
    pools.is_counted
from levels
join pools using (pool_index)
left join peaks using (pool_index)
