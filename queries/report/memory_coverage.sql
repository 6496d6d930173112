-- purpose = "Coverage of memory events: blocks with both ends, blocks with a kind, and totals
-- that add up."
-- source = "docs/metrics.md, section Memory by kind"
-- topic = "memory"
-- needs = ["allocation", "memory_event"]
-- depends = ["memory_kind", "sampled_memory"]
-- parameters = "run_id"
-- columns = "rank_index device_kind device_id-memory event_count block_count whole_count
-- held_count begun_before_count lost_release_count unequal_count kind_known_ratio before_bytes
-- unaccounted_count unaccounted_bytes reason source_id-rank process_id"
-- event_count = "allocations and releases in the file"
-- block_count = "BIGINT: blocks in these events; NULL without addresses"
-- whole_count = "BIGINT: blocks with allocation and release"
-- held_count = "BIGINT: blocks not released in the file"
-- begun_before_count = "BIGINT: blocks whose allocation is not in the file"
-- lost_release_count = "BIGINT: blocks whose address is reused before a release"
-- unequal_count = "BIGINT: releases with another size than the allocation"
-- kind_known_ratio = "DOUBLE: bytes of blocks with known kind / bytes of all allocated blocks"
-- before_bytes = "BIGINT: total before the first event (allocated before the recording); NULL if
-- the file has no totals"
-- unaccounted_count = "BIGINT: events where the change of the total is not their size"
-- unaccounted_bytes = "BIGINT: bytes of those differences: missing events"
with
    blocks as materialized(from memory_kind($run_id)),
    events as materialized(
        select
            events.* exclude (size_bytes),
            -- a release without a size has that of its block
            coalesce(events.size_bytes, - blocks.size_bytes) as size_bytes
        from (from memory_event where run_id = $run_id) as events
        left join
            blocks
            on blocks.source_id = events.source_id
            and blocks.release_event_id = events.event_id
    ),
    followed as (
        select
            source_id,
            process_id,
            device_kind,
            device_id,
            address,
            size_bytes,
            total_allocated_bytes,
            total_allocated_bytes - size_bytes as before_bytes,
            lag(total_allocated_bytes) over in_time as last_bytes,
            row_number() over in_time as place
        from events
        window
            in_time as (
                partition by source_id, process_id, device_kind, device_id
                order by time_ns, event_id
            )
    ),
    pools as (
        select
            source_id,
            process_id,
            device_kind,
            device_id,
            count(*) as event_count,
            count(address) as with_address_count,
            count(*) - count(size_bytes) as unsized_count,
            count(total_allocated_bytes) as with_total_count,
            any_value(before_bytes) filter (where place = 1) as before_bytes,
            count(*) filter (where before_bytes <> last_bytes) as unaccounted_count,
            coalesce(cast(sum(abs(before_bytes - last_bytes)) as bigint), 0) as unaccounted_bytes
        from followed
        group by source_id, process_id, device_kind, device_id
    ),
    told as (
        select
            blocks.source_id,
            blocks.process_id,
            blocks.device_kind,
            blocks.device_id,
            count(*) as block_count,
            count(*) filter (
                where blocks.event_id is not null and blocks.release_event_id is not null
            ) as whole_count,
            count(*) filter (
                where blocks.release_event_id is null and blocks.end_ns is null
            ) as held_count,
            count(*) filter (where blocks.event_id is null) as begun_before_count,
            count(*) filter (
                where blocks.release_event_id is null and blocks.end_ns is not null
            ) as lost_release_count,
            count(*) filter (
                where blocks.event_id is not null and - released.size_bytes <> blocks.size_bytes
            ) as unequal_count,
            sum(blocks.size_bytes) filter (where blocks.kind is not null) as known_bytes,
            sum(blocks.size_bytes) filter (where blocks.event_id is not null) as seen_bytes
        from blocks
        left join
            events as released
            on released.source_id = blocks.source_id
            and released.event_id = blocks.release_event_id
        group by blocks.source_id, blocks.process_id, blocks.device_kind, blocks.device_id
    )
select
    source_file.rank_index,
    pools.device_kind,
    pools.device_id,
    pools.event_count,
    told.block_count,
    told.whole_count,
    told.held_count,
    told.begun_before_count,
    told.lost_release_count,
    told.unequal_count,
    case
        when sampled.source_id is null then ratio(coalesce(told.known_bytes, 0), told.seen_bytes)
    end as kind_known_ratio,
    pools.before_bytes,
    case when pools.with_total_count > 0 then pools.unaccounted_count end as unaccounted_count,
    case when pools.with_total_count > 0 then pools.unaccounted_bytes end as unaccounted_bytes,
    case
        when sampled.source_id is not null
        then 'the profiler kept samples of the events: blocks have ends that are of others'
        when pools.with_address_count = 0 and pools.with_total_count = 0
        then 'the file has neither addresses nor totals'
        when pools.with_address_count = 0
        then 'the file has no addresses: releases cannot be told from which allocation'
        when pools.with_total_count = 0
        then 'the file has no totals'
        when pools.unsized_count > 0
        then
            'the file has no size of '
            || pools.unsized_count
            || ' of '
            || pools.event_count
            || ' events, and no block that they release'
        when pools.before_bytes is null
        then 'the first event has no total'
    end as reason,
    pools.source_id,
    pools.process_id
from pools
left join
    (from sampled_memory where run_id = $run_id) as sampled on sampled.source_id = pools.source_id
left join
    told
    on told.source_id = pools.source_id
    and told.process_id is not distinct from pools.process_id
    and told.device_kind is not distinct from pools.device_kind
    and told.device_id is not distinct from pools.device_id
left join source_file on source_file.source_id = pools.source_id and source_file.run_id = $run_id
order by
    source_file.rank_index nulls last,
    pools.source_id,
    pools.process_id,
    pools.device_kind,
    pools.device_id
