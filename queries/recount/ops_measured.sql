-- purpose = "Operators with counters do the work that was counted of launches like theirs."
-- source = "docs/metrics.md, sections Counters joined to a timeline, Operators of a timeline"
-- report = "ops"
-- keys = ["name"]
-- needs = ["kernel_match", "match_counter", "attribution"]
-- upon = "op_time"
with
    mean as (
        select
            source_id,
            match_index,
            sum(fp64_flop + fp32_flop + fp16_flop) / sum(launch_count) as counted_flop,
            sum(dram_bytes) / sum(launch_count) as counted_bytes
        from match_counter
        where run_id = $run_id
        group by source_id, match_index
    ),
    counted as (
        select
            source_id,
            unit_id,
            count(*) as counted_count,
            sum(dur_ns) as counted_ns,
            sum(counted_flop) as counted_flop,
            sum(counted_bytes) as counted_bytes
        from (from attribution where run_id = $run_id and work_kind = 'kernel') as work
        join
            (
                select launch_source_id as source_id, event_id, counted_flop, counted_bytes
                from (from kernel_match where run_id = $run_id)
                join mean using (source_id, match_index)
            ) using (source_id, event_id)
        left join op_unit using (source_id, context_id)
        group by source_id, unit_id
    ),
    chosen as (
        select
            op_time.* exclude (flop, bytes),
            coalesce(
                counted_count = kernel_count
                or (counted_count > 0 and (flop is null or bytes is null)),
                false
            ) as is_counted,
            if(is_counted, counted_flop, flop) as flop,
            if(is_counted, counted_bytes, bytes) as bytes,
            if(is_counted, counted_ns, total_ns) as ns
        from op_time
        left join
            counted
            on counted.source_id = op_time.source_id
            and counted.unit_id is not distinct from op_time.unit_id
    ),
    plain as (
        select
            bool_and(
                fp64_flop + fp32_flop + fp16_flop is not null
                and dram_bytes is not null
                and tensor_inst is not distinct from 0
                and fp16_flop = 0
                and launch_count > 0
            ) as is_plain
        from match_counter
        where run_id = $run_id
    )
select
    coalesce(name, '(no operator)') as name,
    sum(flop) as total_flop,
    sum(bytes) as total_bytes,
    if(count(flop + bytes) > 0, sum(if(flop is null or bytes is null, null, ns)), 0)
    / nullif(sum(total_ns), 0) as known_ratio,
    if(
        sum(if(bytes is null, null, flop)) > 0,
        sum(if(bytes is null, null, flop)) / sum(if(flop is null, null, bytes)),
        null
    ) as intensity_flop_per_byte,
    sum(if(ns > 0, flop, null))
    / nullif(sum(if(flop is null, null, ns)), 0)
    * 1e9 as achieved_flop_per_s,
    sum(if(ns > 0, bytes, null))
    / nullif(sum(if(bytes is null, null, ns)), 0)
    * 1e9 as achieved_bytes_per_s
from chosen
where
    (select is_plain from plain)
    -- each launch of one kernel, of one counting
    and (select count(distinct source_id) from kernel_match where run_id = $run_id) = 1
    and not exists (from kernel where run_id = $run_id and coalesce(launch_count, 1) <> 1)
group by name
