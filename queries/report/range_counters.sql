-- purpose = "Counters of CUPTI's range profiler in a trace, by the operator whose kernels they
-- counted, or by range."
-- source = "HTA's analysis of CUPTI counters; docs/metrics.md, section range_counters"
-- topic = "counters"
-- needs = ["slice"]
-- answered_if = "exists (from counter_range($run_id))"
-- depends = ["counter_range"]
-- parameters = "run_id by-range"
-- by-range = {type = "VARCHAR", doc = "what a row is, next to the counter: op (innermost operator
-- around the launch) or range (a kernel, or a range of the program)", default = "op", choices =
-- ["op", "range"]}
-- columns = "name-range counter total_value-range share_ratio-range mean_value-range
-- min_value max_value range_count reason"
-- name-range = "VARCHAR: operator, or range; NULL if unknown"
-- counter = "VARCHAR: counter, as in the file"
-- total_value-range = "DOUBLE: sum over the ranges, in the counter's unit; NULL if sums of the
-- counter mean nothing"
-- share_ratio-range = "DOUBLE: total_value / total_value of all rows of the counter"
-- mean_value-range = "DOUBLE: mean per range"
-- min_value = "DOUBLE: smallest value of a range"
-- max_value = "DOUBLE: largest value of a range"
-- range_count = "BIGINT: ranges with the counter"
-- reason = "why the operator is unknown"
with
    ranges as materialized(
        select *, row_number() over (partition by source_id order by start_ns, event_id) as place
        from counter_range($run_id)
    ),
    launches as materialized(
        select
            source_id,
            event_id,
            process_id,
            thread_id,
            start_ns,
            row_number() over (partition by source_id order by start_ns, event_id) as place
        from slice
        where
            run_id = $run_id
            and slice_kind in ('runtime', 'driver')
            and regexp_matches(name, '^(cuda|cu|hip)(Module)?Launch(Cooperative)?Kernel')
            and source_id in (select source_id from ranges)
    ),
    counts as (
        select source_id, count(*) as range_count, any_value(launch_count) as launch_count
        from ranges
        left join
            (select source_id, count(*) as launch_count from launches group by source_id) using (
                source_id
            )
        group by source_id
    ),
    ops as (
        select
            launches.source_id,
            launches.place,
            arg_max(op_call.name, (op_call.start_ns, op_call.event_id)) as name
        from launches
        join
            op_call
            on op_call.run_id = $run_id
            and op_call.source_id = launches.source_id
            and op_call.process_id is not distinct from launches.process_id
            and op_call.thread_id is not distinct from launches.thread_id
            and op_call.start_ns <= launches.start_ns
            and op_call.start_ns + op_call.dur_ns > launches.start_ns
        group by launches.source_id, launches.place
    ),
    named as (
        select
            case when $by = 'range' then ranges.name else ops.name end as name,
            case
                when $by = 'range'
                then null
                when counts.launch_count is distinct from counts.range_count
                then
                    counts.range_count
                    || ' ranges and '
                    || coalesce(counts.launch_count, 0)
                    || ' launches: not one range for each kernel'
                when ops.name is null
                then 'launched outside of all operators'
            end as reason,
            unnest(
                map_entries(try_cast(try_cast(ranges.args_json as json) as map(varchar, varchar)))
            ) as entry
        from ranges
        join counts on counts.source_id = ranges.source_id
        left join
            ops
            on ops.source_id = ranges.source_id
            and ops.place = ranges.place
            and counts.launch_count = counts.range_count
    ),
    known as (
        select name, reason, entry.key as counter, try_cast(entry.value as double) as value
        from named
        where value is not null
    ),
    summed as (
        select
            name,
            counter,
            -- rates, averages and percentages do not add up; names of Kineto have no suffix
            case
                when counter like '%.sum' or not contains(counter, '.') then sum(value)
            end as total_value,
            avg(value) as mean_value,
            min(value) as min_value,
            max(value) as max_value,
            count(*) as range_count,
            reason
        from known
        group by name, counter, reason
    )
select
    name,
    counter,
    total_value,
    ratio(total_value, sum(total_value) over (partition by counter)) as share_ratio,
    mean_value,
    min_value,
    max_value,
    range_count,
    reason
from summed
order by
    max(max_value) over (partition by counter) = 0,
    counter,
    total_value desc nulls last,
    mean_value desc,
    name,
    reason
