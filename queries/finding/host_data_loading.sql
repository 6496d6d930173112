-- purpose = "Time in which a program without device work loads data."
-- source = "docs/metrics.md, section Findings"
-- needs = ["op_call", "slice"]
-- depends = ["is_data_loading", "host_window"]
-- parameters = "run_id phase"
-- columns = "name win_ns call_count longest_ns-call example_offset_ns elapsed_ns-window
-- source_id-rank device_id-none"
-- name = "VARCHAR: annotation or operator that loads data"
-- win_ns = "BIGINT: its time on the thread that loads longest; nested ones count once"
-- call_count = "BIGINT: how often it loads"
-- finding.title = "The program waits for data"
-- finding.evidence = "{call_count:time} in {name}; longest {longest_ns}, {example_offset_ns} after
-- the start"
-- finding.action = "Load in other processes (num_workers) and ahead (prefetch_factor); store the
-- samples ready to use."
-- finding.command = "query ops"
-- finding.sums = ["call_count"]
-- finding.pool = "steps"
with
    span as (select source_id, start_ns, end_ns from host_window($run_id, $phase)),
    loading as (
        select
            slice.source_id,
            slice.thread_id,
            slice.event_id,
            slice.name,
            greatest(slice.start_ns, span.start_ns) as start_ns,
            least(slice.start_ns + slice.dur_ns, span.end_ns) as end_ns,
            span.start_ns as span_start_ns,
            span.end_ns - span.start_ns as elapsed_ns,
            max(least(slice.start_ns + slice.dur_ns, span.end_ns)) over (
                partition by slice.source_id, slice.thread_id
                order by slice.start_ns, slice.dur_ns desc, slice.event_id
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from slice
        join span on span.source_id = slice.source_id
        where
            slice.run_id = $run_id
            and slice.slice_kind in ('annotation', 'op')
            and is_data_loading(slice.name)
            and slice.start_ns < span.end_ns
            and slice.start_ns + slice.dur_ns > span.start_ns
    ),
    -- of nested ones, each time counts once
    alone as (
        select *, end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)) as time_ns
        from loading
        where reach_ns is null or end_ns > reach_ns
    ),
    thread as (
        select source_id, thread_id
        from alone
        group by source_id, thread_id
        qualify row_number() over (partition by source_id order by sum(time_ns) desc, thread_id) = 1
    )
select
    name,
    cast(sum(time_ns) as bigint) as win_ns,
    count(*) as call_count,
    max(time_ns) as longest_ns,
    arg_max(start_ns - span_start_ns, (time_ns, - start_ns)) as example_offset_ns,
    any_value(elapsed_ns) as elapsed_ns,
    alone.source_id,
    cast(null as bigint) as device_id
from alone
join
    thread
    on thread.source_id = alone.source_id
    and thread.thread_id is not distinct from alone.thread_id
group by alone.source_id, name
order by win_ns desc, alone.source_id, name
