-- purpose = "Memory by kind over time, at the peak of each of several equal intervals."
-- source = "docs/metrics.md, section Memory by kind"
-- topic = "memory"
-- needs = ["allocation", "memory_event"]
-- depends = ["memory_level", "memory_kind_rank"]
-- parameters = "run_id phase points"
-- columns = "rank_index device_kind device_id-memory elapsed_ns kind allocated_bytes is_peak
-- source_id-rank process_id time_ns"
-- answer = "allocated_bytes"
-- elapsed_ns = "time of the peak, after the first memory event of the source in these steps"
-- kind = "VARCHAR: as in memory_by_kind"
-- allocated_bytes = "bytes of the kind at that time"
-- is_peak = "BOOLEAN: whether this is the overall peak"
-- time_ns = "time of the peak, in ns after source_file.base_time_ns"
with
    levels as materialized(select * from memory_level($run_id, $phase)),
    spans as (
        select source_id, min(time_ns) as start_ns, max(time_ns) - min(time_ns) as dur_ns
        from levels
        where is_wanted
        group by source_id
    ),
    moments as materialized(
        select
            levels.pool_index,
            levels.place,
            levels.time_ns,
            levels.time_ns - spans.start_ns as elapsed_ns,
            levels.all_bytes - levels.known_bytes as unseen_bytes,
            levels.place = levels.peak_place as is_peak
        from levels
        join spans using (source_id)
        where levels.is_wanted and levels.all_bytes is not null
        qualify
            row_number() over (
                partition by
                    levels.pool_index,
                    divide((levels.time_ns - spans.start_ns) * $points, spans.dur_ns + 1)
                order by levels.all_bytes desc, levels.place
            )
            = 1
    ),
    kinds as (select distinct pool_index, kind from levels where kind is not null),
    asked as (select moments.*, kinds.kind from moments join kinds using (pool_index)),
    known as (
        select
            asked.pool_index,
            asked.place,
            asked.time_ns,
            asked.elapsed_ns,
            asked.is_peak,
            asked.kind,
            coalesce(levels.kind_bytes, 0) as allocated_bytes
        from asked
        asof left join
            levels
            on levels.pool_index = asked.pool_index
            and levels.kind = asked.kind
            and levels.place <= asked.place
        union all
        select pool_index, place, time_ns, elapsed_ns, is_peak, 'unseen', unseen_bytes
        from moments
        where unseen_bytes > 0
    ),
    pools as (
        select
            pool_index, any_value(columns('^(source_id|process_id|device_kind|device_id)$')) as "\0"
        from levels
        group by pool_index
    )
select
    source_file.rank_index,
    pools.device_kind,
    pools.device_id,
    known.elapsed_ns,
    known.kind,
    known.allocated_bytes,
    known.is_peak,
    pools.source_id,
    pools.process_id,
    known.time_ns
from known
join pools using (pool_index)
left join source_file on source_file.source_id = pools.source_id and source_file.run_id = $run_id
order by source_file.rank_index nulls last, pool_index, known.place, memory_kind_rank(known.kind)
