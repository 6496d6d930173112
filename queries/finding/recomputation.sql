-- purpose = "Time of operators of the forward pass that run again inside the backward pass."
-- source = "Chen T. 2016 (Training Deep Nets with Sublinear Memory Cost); docs/metrics.md, section
-- Findings"
-- needs = ["op_call", "calling_context", "slice"]
-- depends = ["step_window", "host_window"]
-- parameters = "run_id phase"
-- columns = "name-operator win_ns call_count example_offset_ns module_path elapsed_ns-window
-- source_id-rank device_id-none"
-- win_ns = "BIGINT: time of their kernels, copies and memsets; without any, on the host"
-- call_count = "BIGINT: calls in the backward pass, without those that another such call makes"
-- module_path = "VARCHAR: module of the longest; NULL if unknown"
-- finding.title = "The forward pass runs again inside the backward pass"
-- finding.evidence = "{call_count:call}, most time in {name}; the longest
-- {example_offset_ns} after the start[, in {module_path}]"
-- finding.action = "Checkpoint fewer or cheaper layers (selective checkpointing), as far as the
-- memory allows."
-- finding.command = "query recomputation"
-- finding.sums = ["call_count"]
-- finding.pool = "steps"
with
    worked as (select distinct source_id from attribution where run_id = $run_id),
    spans as (
        select source_id, first_step_index, last_step_index, start_ns, end_ns
        from step_window($run_id, $phase)
        where start_ns is not null and source_id in (from worked)
        union all
        select source_id, first_step_index, last_step_index, start_ns, end_ns
        from host_window($run_id, $phase)
    ),
    called as (
        select
            calls.source_id,
            calls.event_id,
            calls.parent_event_id,
            calls.name,
            calls.start_ns,
            calls.dur_ns,
            calls.device_ns,
            calls.work_count,
            calls.step_index,
            context.input_dims,
            context.module_path,
            context.phase_kind = 'backward' as is_backward,
            -- with a number of its own, it has a backward function; operators of the backward
            -- pass have the number of those of the forward pass, or none
            slice.sequence_id is not null and coalesce(slice.forward_thread_id, 0) = 0 as is_derived
        from op_call as calls
        join
            calling_context as context
            on context.run_id = calls.run_id
            and context.source_id = calls.source_id
            and context.context_id = calls.context_id
        join
            slice
            on slice.run_id = calls.run_id
            and slice.source_id = calls.source_id
            and slice.event_id = calls.event_id
        where calls.run_id = $run_id
    ),
    forward as (
        select distinct source_id, name, input_dims, module_path
        from called
        where is_derived and is_backward is not true
    ),
    repeated as materialized(
        select called.*
        from called
        join
            forward
            on forward.source_id = called.source_id
            and forward.name = called.name
            and forward.input_dims is not distinct from called.input_dims
            and forward.module_path is not distinct from called.module_path
        where is_derived and is_backward
    ),
    outermost as (
        select *, case when work_count > 0 then device_ns else dur_ns end as time_ns
        from repeated
        where
            not exists (
                from repeated as outer_one
                where
                    outer_one.source_id = repeated.source_id
                    and outer_one.event_id = repeated.parent_event_id
            )
    )
select
    name,
    least(cast(sum(time_ns) as bigint), any_value(spans.end_ns - spans.start_ns)) as win_ns,
    count(*) as call_count,
    -- a step begins when the device has done the work of the one before it
    greatest(
        arg_max(outermost.start_ns - spans.start_ns, (time_ns, - outermost.start_ns)), 0
    ) as example_offset_ns,
    arg_max(module_path, (time_ns, - outermost.start_ns)) as module_path,
    any_value(spans.end_ns - spans.start_ns) as elapsed_ns,
    outermost.source_id,
    cast(null as bigint) as device_id
from outermost
join spans on spans.source_id = outermost.source_id
where
    -- with a device, only what takes its time
    time_ns > 0
    and (work_count > 0 or outermost.source_id not in (from worked))
    and case
        when spans.first_step_index is null
        then outermost.start_ns >= spans.start_ns and outermost.start_ns < spans.end_ns
        else step_index between spans.first_step_index and spans.last_step_index
    end
group by outermost.source_id, name
order by win_ns desc, outermost.source_id, name
