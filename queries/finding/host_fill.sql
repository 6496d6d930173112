-- purpose = "Time in which a program without device work allocates and fills tensors of a size
-- that it has made before."
-- source = "PyTorch: torch.zeros and its like allocate and write their result on each call;
-- docs/metrics.md, section Findings"
-- needs = ["op_call", "calling_context"]
-- depends = ["host_call"]
-- parameters = "run_id phase"
-- columns = "name-operator win_ns call_count longest_ns-call example_offset_ns symptom_name
-- elapsed_ns-window
-- source_id-rank device_id-none"
-- win_ns = "BIGINT: their time, less the first of each size"
-- call_count = "BIGINT: calls, less the first of each size"
-- finding.title = "Tensors of the same size are made and filled again and again"
-- finding.evidence = "{call_count:call}, most time in {name}; longest {longest_ns},
-- {example_offset_ns} after the start"
-- finding.action = "Make them once, outside the loop, and reuse them (out=, zero_()); or do without
-- the zeros."
-- finding.command = "query host_fill"
-- finding.sums = ["call_count"]
-- finding.pool = "steps"
with
    fill as (
        select
            calls.*,
            row_number() over (
                partition by calls.source_id, calls.name, context.concrete_inputs
                order by calls.start_ns, calls.event_id
            ) as place
        from host_call($run_id, $phase) as calls
        join
            calling_context as context
            on context.run_id = calls.run_id
            and context.source_id = calls.source_id
            and context.context_id = calls.context_id
        where
            regexp_matches(
                calls.name, '^aten::(new_)?(zeros|ones|full|rand|randn|randint)(_like)?$'
            )
            and calls.dur_ns > 0
    )
select
    name,
    least(cast(sum(dur_ns) as bigint), any_value(elapsed_ns)) as win_ns,
    count(*) as call_count,
    max(dur_ns) as longest_ns,
    arg_max(start_ns - window_start_ns, (dur_ns, - start_ns)) as example_offset_ns,
    'host_memory_bound' as symptom_name,
    any_value(elapsed_ns) as elapsed_ns,
    source_id,
    cast(null as bigint) as device_id
from fill
where place > 1
group by source_id, name
order by win_ns desc, source_id, name
