-- purpose = "Annotations of the program by the device time of the work launched in them,
-- inclusive and exclusive of nested annotations, and their host time."
-- source = "NVIDIA Nsight Systems, reports nvtx_kern_sum and nvtx_gpu_proj_sum; docs/metrics.md,
-- section annotations"
-- topic = "time"
-- needs = ["calling_context"]
-- answered_if = "exists (from attribution where run_id = $run_id) or exists (from calling_context
-- where run_id = $run_id and context_kind = 'annotation')"
-- depends = ["chosen_step", "step_span", "sum_where"]
-- parameters = "run_id phase-launched"
-- columns = "name total_ns share_ratio self_ns self_ratio work_count-launched kernel_count
-- call_count host_ns mean_call_ns reason"
-- name = "annotation; (no annotation): work launched outside of all"
-- total_ns = "sum of the durations of the kernels, copies and memsets launched in it"
-- share_ratio = "total_ns / time of all kernels, copies and memsets"
-- self_ns = "BIGINT: the part with it as the innermost annotation; sums to the time of all work"
-- self_ratio = "DOUBLE: self_ns / time of all kernels, copies and memsets"
-- kernel_count = "kernels launched in it"
-- call_count = "times the host entered it; NULL if unknown"
-- host_ns = "BIGINT: host time in it; a call inside one of the same name counts again"
-- mean_call_ns = "DOUBLE: mean time of the calls that ended in the recording"
-- reason = "why a time is unknown or incomplete"
with recursive
    chosen as materialized(from chosen_step($run_id, $phase)),
    work as materialized(
        select
            source_id,
            context_id,
            sum(dur_ns) as total_ns,
            count(*) as work_count,
            count(*) filter (where work_kind = 'kernel') as kernel_count,
            count(*) filter (where launch_event_id is null and context_id is null) as unknown_count
        from attribution
        left join chosen using (run_id, source_id)
        where
            run_id = $run_id
            and ($phase = 'all' or step_index between first_step_index and last_step_index)
        group by source_id, context_id
    ),
    context as materialized(
        select source_id, context_id, parent_context_id, name, context_kind
        from calling_context
        where run_id = $run_id
    ),
    -- each annotation, with the contexts in it
    inside as (
        select source_id, context_id as annotation_id, name, context_id
        from context
        where context_kind = 'annotation'
        union all
        select inside.source_id, inside.annotation_id, inside.name, context.context_id
        from inside
        join
            context
            on context.source_id = inside.source_id
            and context.parent_context_id = inside.context_id
    ),
    -- once, in however many of the same name
    named as materialized(
        select
            source_id,
            context_id,
            name,
            -- the number of an inner context is higher
            max(annotation_id)
            = max(max(annotation_id)) over (partition by source_id, context_id) as is_innermost
        from inside
        group by source_id, context_id, name
    ),
    times as (
        select
            named.name,
            -- without work, 0; of work without durations, unknown
            sum_where(work.total_ns, work.work_count > 0) as total_ns,
            sum_where(work.total_ns, work.work_count > 0 and named.is_innermost) as self_ns,
            sum_where(work.work_count, work.work_count > 0) as work_count,
            sum_where(work.kernel_count, work.work_count > 0) as kernel_count,
            0 as unknown_count
        from named
        left join work using (source_id, context_id)
        group by named.name
        union all
        select
            '(no annotation)',
            sum_where(total_ns, true),
            sum_where(total_ns, true),
            sum_where(work_count, true),
            sum_where(kernel_count, true),
            sum_where(unknown_count, true)
        from work
        anti join named using (source_id, context_id)
        having count(*) > 0
    ),
    spans as materialized(
        select spans.source_id, mark_start_ns, mark_start_ns + mark_ns as mark_end_ns
        from step_span($run_id) as spans
        join chosen on chosen.source_id = spans.source_id
        where step_kind = 'host' and step_index between first_step_index and last_step_index
    ),
    calls as (
        select
            name,
            count(*) as call_count,
            cast(sum(dur_ns) as bigint) as host_ns,
            avg(dur_ns) as mean_call_ns
        from slice
        where
            run_id = $run_id
            and slice_kind = 'annotation'
            and (
                $phase = 'all'
                or exists (
                    from spans
                    where
                        spans.source_id = slice.source_id
                        and slice.start_ns >= spans.mark_start_ns
                        and slice.start_ns < spans.mark_end_ns
                )
            )
        group by name
    )
select
    times.name,
    times.total_ns,
    ratio(times.total_ns, sum(times.self_ns) over ()) as share_ratio,
    times.self_ns,
    ratio(times.self_ns, sum(times.self_ns) over ()) as self_ratio,
    times.work_count,
    times.kernel_count,
    calls.call_count,
    calls.host_ns,
    calls.mean_call_ns,
    case
        when times.total_ns + times.self_ns is null
        then 'duration unknown'
        when times.unknown_count > 0
        then
            'launches of '
            || times.unknown_count
            || ' of '
            || times.work_count
            || ' kernels, copies and memsets not in the file'
    end as reason
from times
left join calls on calls.name = times.name
-- without contexts, all work would be of no annotation
where exists (from context)
order by
    times.name = '(no annotation)',
    times.total_ns desc nulls last,
    times.self_ns desc nulls last,
    times.name
