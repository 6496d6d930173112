-- purpose = "Time in which no operator of a program without device work on record runs, by what it
-- does then: the annotation, call or Python function that began last, of the 2,000 longest."
-- source = "PyTorch, torch.profiler: user_annotation, python_function and runtime events;
-- docs/metrics.md, section Findings"
-- needs = ["op_call", "slice"]
-- depends = ["host_span", "is_communication", "is_data_loading"]
-- parameters = "run_id phase"
-- columns = "name-outside win_ns total_ns outside_ns outside_ratio call_count longest_ns
-- example_offset_ns hint elapsed_ns-window source_id-rank device_id-none"
-- name-outside = "VARCHAR: what runs: annotation, call or Python function; NULL if none is in the
-- file"
-- win_ns = "BIGINT: total_ns; NULL for a program that launches work, which may run meanwhile"
-- total_ns = "BIGINT: time in it while no thread runs an operator or loads data"
-- outside_ns = "BIGINT: all such time of the source"
-- outside_ratio = "DOUBLE: outside_ns / elapsed_ns"
-- call_count = "BIGINT: stretches of such time"
-- longest_ns = "BIGINT: longest stretch"
-- hint = "VARCHAR: what to do about it"
-- finding.title = "The program spends time outside of operators"
-- finding.evidence = "no operator runs for {outside_ns}, {outside_ratio} of the time[; most of it
-- in {name}]: {total_ns} in {call_count:stretch}, the longest {longest_ns}, {example_offset_ns}
-- after the start"
-- finding.action = "{hint}"
-- finding.command = "query host_outside_ops"
-- finding.pool = "steps"
with
    spans as materialized(
        select source_id, start_ns, end_ns, has_launches from host_span($run_id, $phase)
    ),
    -- what host_data_loading tells is loading wherever it is, not only outside of operators
    told as materialized(
        select source_id, start_ns, start_ns + dur_ns as end_ns
        from op_call
        where run_id = $run_id and source_id in (select source_id from spans)
        union all
        select source_id, start_ns, start_ns + dur_ns
        from slice
        where
            run_id = $run_id
            and slice_kind in ('annotation', 'op')
            and is_data_loading(name)
            and source_id in (select source_id from spans)
    ),
    within as (
        select
            spans.source_id,
            greatest(told.start_ns, spans.start_ns) as start_ns,
            least(told.end_ns, spans.end_ns) as end_ns
        from told
        join
            spans
            on spans.source_id = told.source_id
            and told.start_ns < spans.end_ns
            and told.end_ns > spans.start_ns
        union all
        select source_id, end_ns, end_ns
        from spans
    ),
    reached as (
        select
            within.source_id,
            coalesce(
                max(within.end_ns) over (
                    partition by within.source_id
                    order by within.start_ns, within.end_ns
                    rows between unbounded preceding and 1 preceding
                ),
                spans.start_ns
            ) as from_ns,
            within.start_ns as till_ns
        from within
        join spans on spans.source_id = within.source_id
    ),
    outside as materialized(
        select *, row_number() over (order by source_id, from_ns) as outside_index
        from reached
        where till_ns > from_ns
    ),
    -- a step is no place: all time is in one
    frames as materialized(
        select source_id, event_id, name, slice_kind, start_ns, start_ns + dur_ns as end_ns
        from slice
        anti join step using (run_id, source_id, event_id)
        where
            run_id = $run_id
            and source_id in (select source_id from spans)
            and slice_kind in ('annotation', 'driver', 'python', 'runtime')
            and dur_ns > 0
        -- a short one counts for that around it: there can be millions
        qualify
            row_number() over (partition by source_id order by dur_ns desc, start_ns, name) <= 2000
    ),
    covering as materialized(
        select
            outside.source_id,
            outside_index,
            from_ns,
            till_ns,
            event_id,
            name,
            slice_kind,
            frames.start_ns,
            frames.end_ns
        from outside
        join
            frames
            on frames.source_id = outside.source_id
            and frames.start_ns < till_ns
            and frames.end_ns > from_ns
    ),
    bounds as (
        select outside_index, source_id, from_ns as bound_ns
        from outside
        union
        select outside_index, source_id, greatest(start_ns, from_ns)
        from covering
        union
        select outside_index, source_id, least(end_ns, till_ns)
        from covering
        union
        select outside_index, source_id, till_ns
        from outside
    ),
    pieces as (
        select
            *, lead(bound_ns) over (partition by outside_index order by bound_ns) as next_bound_ns
        from bounds
    ),
    -- each moment is of the frame that began last
    named as (
        select
            pieces.source_id,
            pieces.outside_index,
            bound_ns,
            next_bound_ns - bound_ns as piece_ns,
            arg_max(name, (covering.start_ns, - covering.end_ns, name, slice_kind)) as name,
            arg_max(
                slice_kind, (covering.start_ns, - covering.end_ns, name, slice_kind)
            ) as slice_kind
        from pieces
        left join
            covering
            on covering.outside_index = pieces.outside_index
            and covering.start_ns <= bound_ns
            and covering.end_ns >= next_bound_ns
        where next_bound_ns is not null
        group by pieces.source_id, pieces.outside_index, bound_ns, next_bound_ns
    ),
    stretches as (
        select
            source_id,
            name,
            min(slice_kind) as slice_kind,
            min(bound_ns) as first_ns,
            sum(piece_ns) as stretch_ns
        from named
        group by source_id, outside_index, name
    )
select
    name,
    case when not any_value(spans.has_launches) then cast(sum(stretch_ns) as bigint) end as win_ns,
    cast(sum(stretch_ns) as bigint) as total_ns,
    cast(sum(sum(stretch_ns)) over (partition by stretches.source_id) as bigint) as outside_ns,
    ratio(outside_ns, any_value(spans.end_ns - spans.start_ns)) as outside_ratio,
    count(*) as call_count,
    cast(max(stretch_ns) as bigint) as longest_ns,
    arg_max(first_ns - spans.start_ns, (stretch_ns, - first_ns)) as example_offset_ns,
    case
        when is_communication(name, null, null)
        then
            'Find out whether it waits for a process that is late. Begin it earlier, beside the '
            || 'backward pass (buckets), or send less.'
        when min(slice_kind) in ('runtime', 'driver')
        then
            'Call it less often, and do other work while the device computes; record the work of '
            || 'the device to see whether it waits for that.'
        when name is null
        then
            'Find out what the program does there: record stacks (with_stack=True) or annotate it '
            || '(record_function). Many short stretches are Python between operators: fewer, '
            || 'larger operators, or torch.compile.'
        else 'Look at what it does without operators, and move that out of the loop or speed it up.'
    end as hint,
    any_value(spans.end_ns - spans.start_ns) as elapsed_ns,
    stretches.source_id,
    cast(null as bigint) as device_id
from stretches
join spans on spans.source_id = stretches.source_id
group by stretches.source_id, name
order by total_ns desc, stretches.source_id, name nulls last
