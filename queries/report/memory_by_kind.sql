-- purpose = "Memory by kind on each device: the maximum of each kind, and its part at the overall
-- peak."
-- source = "Zhu 2018 (TBD), sect. III and Fig. 8: the maximal amount ever allocated for each
-- type; docs/metrics.md, section Memory by kind"
-- topic = "memory"
-- needs = ["allocation", "memory_event"]
-- depends = ["memory_level", "memory_kind_rank", "sampled_memory", "sum_where"]
-- parameters = "run_id phase moment"
-- columns = "rank_index device_kind device_id-memory kind peak_bytes at_peak_bytes share_ratio
-- allocation_count allocated_bytes allocated_step_bytes reserved_peak_bytes
-- reserved_at_peak_bytes unused_at_peak_bytes reason source_id-rank process_id is_total"
-- moment = {type = "VARCHAR", doc = "any: every kind; peak: only kinds held at the overall peak,
-- with peak_bytes NULL (faster)", default = "any", choices = ["any", "peak"]}
-- kind = "VARCHAR: kind; unknown: no rule applies; unseen: allocated before the recording, or in
-- a lost event; (all): everything"
-- peak_bytes = "BIGINT: maximum of the kind"
-- at_peak_bytes = "BIGINT: bytes of the kind at the first overall peak"
-- share_ratio = "at_peak_bytes / overall peak; if known blocks exceed the total, / the known
-- blocks"
-- allocated_step_bytes = "DOUBLE: bytes allocated per step: mean over the steps"
-- reserved_peak_bytes = "BIGINT: for all kinds: maximum reserved by the allocator"
-- reserved_at_peak_bytes = "BIGINT: for all kinds: reserved at the time of at_peak_bytes"
-- unused_at_peak_bytes = "BIGINT: for all kinds: reserved but not allocated then (fragmentation)"
-- is_total = "the row of all kinds of a device"
with
    levels as materialized(select * from memory_level($run_id, $phase)),
    kinds as (
        select
            pool_index,
            kind,
            false as is_total,
            case
                when $moment = 'any'
                then greatest(max(kind_bytes) filter (where is_level_of_kind), 0)
            end as peak_bytes,
            case
                when any_value(peak_place) is not null
                then sum_where(change_bytes, place <= peak_place)
            end as at_peak_bytes,
            count(*) filter (where is_wanted and change_bytes > 0) as allocation_count,
            sum_where(change_bytes, is_wanted and change_bytes > 0) as allocated_bytes,
            sum_where(
                change_bytes, is_wanted and change_bytes > 0 and step_index is not null
            ) as in_steps_bytes
        from levels
        where kind is not null
        group by pool_index, kind
        having peak_bytes > 0 or $moment = 'peak'
    ),
    pools as (
        select
            pool_index,
            bool_or(is_counted) as is_counted,
            bool_or(kind is not null) as has_blocks,
            bool_or(is_wanted) as is_wanted,
            count(distinct step_index) filter (where is_wanted) as step_count,
            max(all_bytes) filter (where is_level) as peak_bytes,
            max(known_bytes) filter (where place = peak_place) as known_at_peak_bytes,
            max(all_bytes - known_bytes) filter (where is_level) as unseen_peak_bytes,
            min(all_bytes - known_bytes) filter (where is_level) as unseen_least_bytes,
            max(reserved_bytes) filter (where is_level) as reserved_peak_bytes,
            max(reserved_bytes) filter (where place = peak_place) as reserved_at_peak_bytes,
            any_value(columns('^(source_id|process_id|device_kind|device_id)$')) as "\0"
        from levels
        group by pool_index
    ),
    everything as (
        from kinds
        union all by name
        select
            pool_index,
            'unseen' as kind,
            false as is_total,
            case when unseen_least_bytes >= 0 then unseen_peak_bytes end as peak_bytes,
            case
                when unseen_least_bytes >= 0 then peak_bytes - known_at_peak_bytes
            end as at_peak_bytes
        from pools
        anti join (from sampled_memory where run_id = $run_id) as sampled using (source_id)
        where unseen_peak_bytes <> 0 or unseen_least_bytes <> 0
        union all by name
        select
            pools.pool_index,
            '(all)' as kind,
            true as is_total,
            pools.peak_bytes,
            pools.peak_bytes as at_peak_bytes,
            cast(sum(kinds.allocation_count) as bigint) as allocation_count,
            cast(sum(kinds.allocated_bytes) as bigint) as allocated_bytes,
            cast(sum(kinds.in_steps_bytes) as bigint) as in_steps_bytes
        from pools
        left join kinds using (pool_index)
        group by pools.pool_index, pools.peak_bytes
    )
select
    source_file.rank_index,
    pools.device_kind,
    pools.device_id,
    everything.kind,
    everything.peak_bytes,
    everything.at_peak_bytes,
    ratio(
        everything.at_peak_bytes, greatest(pools.peak_bytes, pools.known_at_peak_bytes)
    ) as share_ratio,
    everything.allocation_count,
    everything.allocated_bytes,
    ratio(everything.in_steps_bytes, pools.step_count) as allocated_step_bytes,
    case when is_total then pools.reserved_peak_bytes end as reserved_peak_bytes,
    case when is_total then pools.reserved_at_peak_bytes end as reserved_at_peak_bytes,
    case
        when is_total and pools.reserved_at_peak_bytes >= pools.peak_bytes
        then pools.reserved_at_peak_bytes - pools.peak_bytes
    end as unused_at_peak_bytes,
    case
        when sampled.source_id is not null
        then
            'the profiler kept samples of the events: no kind is known, and the peak is the '
            || 'largest that it kept'
        when not pools.has_blocks and not pools.is_counted
        then 'the file has neither addresses nor totals'
        when not pools.is_wanted
        then 'no memory event is in these steps'
        when is_total and not pools.is_counted
        then 'the file has no totals: without what was allocated before the recording'
        when is_total and not pools.has_blocks
        then 'the file has no addresses: kinds are unknown'
        when pools.known_at_peak_bytes > pools.peak_bytes and kind <> 'unseen' and not is_total
        then 'more blocks are known than the total has: releases were lost'
        when kind = 'unknown'
        then 'the source does not distinguish forward and backward'
        when kind = 'unseen' and everything.peak_bytes is null
        then 'more blocks are known than the total has: releases were lost'
        when kind = 'unseen'
        then 'allocated before the recording, or in an event that was lost'
    end as reason,
    pools.source_id,
    pools.process_id,
    everything.is_total
from everything
join pools using (pool_index)
left join
    (from sampled_memory where run_id = $run_id) as sampled on sampled.source_id = pools.source_id
left join source_file on source_file.source_id = pools.source_id and source_file.run_id = $run_id
where
    $moment = 'any'
    or everything.is_total
    or everything.kind = 'unseen'
    or everything.at_peak_bytes > 0
order by source_file.rank_index nulls last, pool_index, is_total desc, memory_kind_rank(kind)
