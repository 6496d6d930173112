-- purpose = "Stacks from Python frames, modules and operators to calls and kernels, as a tree:
-- device time launched in each and time of the host."
-- source = "Gregg 2016 (The Flame Graph): equal stacks as one; docs/metrics.md, section stacks"
-- topic = "time"
-- needs = ["slice or attribution"]
-- depends = ["chosen_step", "step_span", "device_work"]
-- parameters = "run_id phase-launched"
-- columns = "stack_index parent_index depth_index stack_kind name device_ns share_ratio
-- self_device_ns host_ns self_host_ns work_count-launched call_count"
-- stack_index = "BIGINT: number of the stack; those below it follow, the largest first"
-- parent_index = "BIGINT: the stack without its last member; NULL for a root"
-- depth_index = "BIGINT: number of members above it"
-- stack_kind = "VARCHAR: kind of the last member: python, module, annotation, op, call, kernel,
-- communication (a kernel), memcpy, memset or unknown (what the file does not say)"
-- name = "last member of the stack, without addresses of objects"
-- device_ns = "BIGINT: sum of the durations of the kernels, copies and memsets launched in it"
-- share_ratio = "device_ns / time of all kernels, copies and memsets"
-- self_device_ns = "BIGINT: duration of a kernel, copy or memset; 0 for what launches it"
-- host_ns = "BIGINT: time of host threads in it; each moment of a thread counts once"
-- self_host_ns = "BIGINT: the part in no member below it"
-- call_count = "calls of the last member; 0 for those of kernels, and outside the steps"
with
    chosen as materialized(from chosen_step($run_id, $phase)),
    spans as materialized(
        select spans.source_id, mark_start_ns, mark_start_ns + mark_ns as mark_end_ns
        from step_span($run_id) as spans
        join chosen on chosen.source_id = spans.source_id
        where step_kind = 'host' and step_index between first_step_index and last_step_index
    ),
    work as materialized(
        select
            attribution.source_id,
            case
                when device_work.work_class = 'communication'
                then 'communication'
                else attribution.work_kind
            end as work_kind,
            attribution.name,
            attribution.dur_ns,
            attribution.launch_event_id,
            attribution.context_id
        from attribution
        left join chosen using (run_id, source_id)
        left join device_work using (run_id, source_id, event_id)
        where
            run_id = $run_id
            and attribution.dur_ns is not null
            and (
                $phase = 'all'
                or attribution.step_index between first_step_index and last_step_index
            )
    ),
    context as materialized(
        select
            -3 - row_number() over () as node_id,
            source_id,
            context_id,
            parent_context_id,
            context_kind as stack_kind,
            -- the modules in the name of an operator are above it
            case
                when stack_kind = 'op' and module_basis = 'scope' and parent_context_id is not null
                then regexp_replace(name, '^.*/', '')
                else name
            end as name,
            module_basis = 'scope' as is_scope
        from calling_context
        where run_id = $run_id
    ),
    -- a step is no part of a stack: all steps would differ
    mark as materialized(
        select distinct source_id, event_id
        from step
        where run_id = $run_id and event_id is not null
    ),
    launch as materialized(
        select distinct source_id, launch_event_id as event_id
        from work
        where launch_event_id is not null
    ),
    frame_name as materialized(
        select
            name,
            slice_kind,
            case
                when slice_kind in ('runtime', 'driver')
                then 'call'
                when slice_kind = 'python' and starts_with(name, 'nn.Module: ')
                then 'module'
                else slice_kind
            end as stack_kind,
            -- what numbers an iteration is one member, as in its context; an object has another
            -- address in each process
            case
                when name is null
                then '(no name)'
                when
                    slice_kind = 'annotation'
                    and regexp_replace(name, '[0-9]+', '#', 'g') in (select name from context)
                then regexp_replace(name, '[0-9]+', '#', 'g')
                else regexp_replace(name, ' at 0x[0-9a-f]+', '', 'g')
            end as member_name,
            -- numbers are compared, not texts
            cast(hash(name, slice_kind) >> 1 as bigint) as code,
            case
                when count(*) over (partition by code) > 1
                then error('two names have the same hash')
                else code
            end as name_code
        from (select distinct name, slice_kind from slice where run_id = $run_id)
        where slice_kind in ('op', 'python', 'annotation', 'runtime', 'driver')
    ),
    root as (
        select
            unnest([-2, -3]) as node_id,
            unnest(['(no launch in the file)', '(no operator or frame)']) as name
    ),
    member as materialized(
        select stack_kind, name, row_number() over (order by name, stack_kind) as name_index
        from
            (
                select stack_kind, member_name as name
                from frame_name
                union
                select stack_kind, name
                from context
                union
                select work_kind, coalesce(name, '(no name)')
                from work
                union
                select 'unknown', name
                from root
            )
    ),
    nested as materialized(
        select
            source_id,
            nested_stacks(
                list(event_id),
                list(start_ns),
                list(dur_ns),
                list(name_code),
                list(is_launch),
                case
                    when $phase <> 'all'
                    then
                        coalesce(
                            (
                                select map_from_entries(list((source_id, bounds)))
                                from
                                    (
                                        select
                                            source_id,
                                            flatten(
                                                list(
                                                    [mark_start_ns, mark_end_ns]
                                                    order by mark_start_ns
                                                )
                                            ) as bounds
                                        from spans
                                        group by source_id
                                    )
                            )[source_id],
                            []
                        )
                end
            ) as found
        from
            (
                select
                    source_id,
                    process_id,
                    thread_id,
                    track_name,
                    event_id,
                    start_ns,
                    dur_ns,
                    cast(hash(name, slice_kind) >> 1 as bigint) as name_code,
                    (source_id, event_id) in (select (source_id, event_id) from launch) as is_launch
                from slice
                where
                    run_id = $run_id
                    and slice_kind in ('op', 'python', 'annotation', 'runtime', 'driver')
                    and start_ns is not null
                    and (source_id, event_id) not in (select (source_id, event_id) from mark)
            )
        group by source_id, process_id, thread_id, track_name
    ),
    track as materialized(
        select source_id, found, (row_number() over () - 1) * 4294967296 as first_id from nested
    ),
    launched as materialized(
        select source_id, launch.event_id, first_id + launch.stack_index as node_id
        from (select source_id, first_id, unnest(found.launches) as launch from track)
    ),
    stack as (
        select
            first_id,
            unnest(found.stacks) as stack,
            first_id + generate_subscripts(found.stacks, 1) - 1 as node_id
        from track
    ),
    placed as (
        select
            case
                when context.is_scope
                then context.node_id
                else coalesce(launched.node_id, context.node_id, -2)
            end as parent_id,
            work.work_kind,
            work.name,
            cast(sum(work.dur_ns) as bigint) as device_ns,
            count(*) as work_count
        from work
        left join
            launched
            on launched.source_id = work.source_id
            and launched.event_id = work.launch_event_id
        left join
            context on context.source_id = work.source_id and context.context_id = work.context_id
        group by all
    ),
    node as materialized(
        select
            node_id,
            -- a call with nothing around it
            case
                when stack.parent_index >= 0
                then first_id + stack.parent_index
                when member.stack_kind = 'call'
                then -3
                else -1
            end as parent_id,
            member.name_index,
            stack.self_ns as host_ns,
            stack.call_count,
            0 as device_ns,
            0 as work_count
        from stack
        join frame_name on frame_name.name_code = stack.name_code
        join
            member
            on member.name = frame_name.member_name
            and member.stack_kind = frame_name.stack_kind
        union all
        select
            context.node_id,
            case when context.parent_context_id is null then -1 else above.node_id end,
            member.name_index,
            0,
            0,
            0,
            0
        from context
        left join
            context as above
            on above.source_id = context.source_id
            and above.context_id = context.parent_context_id
        join member on member.name = context.name and member.stack_kind = context.stack_kind
        union all
        select root.node_id, -1, member.name_index, 0, 0, 0, 0
        from root
        join member on member.name = root.name and member.stack_kind = 'unknown'
        union all
        select
            -- of its own
            -4 - row_number() over () - (select count(*) from context),
            placed.parent_id,
            member.name_index,
            0,
            0,
            placed.device_ns,
            placed.work_count
        from placed
        join
            member
            on member.name = coalesce(placed.name, '(no name)')
            and member.stack_kind = placed.work_kind
    ),
    tree as (
        select unnest(chains) as chain, generate_subscripts(chains, 1) - 1 as stack_index
        from
            (
                select
                    folded_stacks(
                        list(node_id),
                        list(parent_id),
                        list(name_index),
                        list(host_ns),
                        list(call_count),
                        list(device_ns),
                        list(work_count)
                    ) as chains
                from node
            )
    )
select
    stack_index,
    case when chain.parent_index >= 0 then chain.parent_index end as parent_index,
    chain.depth_index,
    member.stack_kind,
    member.name,
    chain.device_ns,
    ratio(chain.device_ns, sum(chain.self_device_ns) over ()) as share_ratio,
    chain.self_device_ns,
    case when is_timed then chain.host_ns end as host_ns,
    case when is_timed then chain.self_host_ns end as self_host_ns,
    chain.work_count,
    chain.call_count
from tree
join member on member.name_index = chain.name_index
cross join (select $phase = 'all' or count(*) > 0 as is_timed from spans)
order by stack_index
