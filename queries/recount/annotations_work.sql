-- purpose = "Annotations have the work that is launched in them, and in what they hold."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "annotations"
-- keys = ["name"]
-- needs = ["calling_context"]
with recursive
    -- each context with those around it, itself the nearest
    around as (
        select source_id, context_id, context_id as outer_id, 0 as distance
        from calling_context
        where run_id = $run_id
        union all
        select around.source_id, around.context_id, parent_context_id, distance + 1
        from around
        join
            calling_context as context
            on run_id = $run_id
            and context.source_id = around.source_id
            and context.context_id = around.outer_id
        where parent_context_id is not null
    ),
    held as (
        select
            around.source_id,
            around.context_id,
            min(context.name) as name,
            min(distance) as distance
        from around
        join
            calling_context as context
            on run_id = $run_id
            and context.source_id = around.source_id
            and context.context_id = outer_id
            and context_kind = 'annotation'
        group by around.source_id, around.context_id, context.name
    ),
    nearest as (
        select *, distance = min(distance) over (partition by source_id, context_id) as is_nearest
        from held
    ),
    parted as (
        select nearest.name, is_nearest, work_kind, dur_ns, false as is_unknown
        from nearest
        left join (from attribution where run_id = $run_id) as work using (source_id, context_id)
        union all
        select
            '(no annotation)',
            true,
            work_kind,
            dur_ns,
            coalesce(launch_event_id, context_id) is null
        from attribution
        where
            run_id = $run_id
            and (source_id, coalesce(context_id, -1))
            not in (select (source_id, context_id) from nearest)
    ),
    calls as (
        select name, count(*) as call_count, sum(dur_ns) as host_ns, avg(dur_ns) as mean_call_ns
        from slice
        where run_id = $run_id and slice_kind = 'annotation'
        group by name
    ),
    whole as (select sum(dur_ns) as all_ns from attribution where run_id = $run_id)
select
    name,
    if(count(work_kind) > 0, sum(dur_ns), 0) as total_ns,
    total_ns / nullif(any_value(all_ns), 0) as share_ratio,
    if(
        count(work_kind) filter (where is_nearest) > 0, sum(dur_ns) filter (where is_nearest), 0
    ) as self_ns,
    self_ns / nullif(any_value(all_ns), 0) as self_ratio,
    count(work_kind) as work_count,
    count(*) filter (where work_kind = 'kernel') as kernel_count,
    any_value(call_count) as call_count,
    any_value(host_ns) as host_ns,
    any_value(mean_call_ns) as mean_call_ns,
    case
        when total_ns + self_ns is null
        then 'duration unknown'
        when count_if(is_unknown) > 0
        then
            'launches of '
            || count_if(is_unknown)
            || ' of '
            || count(work_kind)
            || ' kernels, copies and memsets not in the file'
    end as reason
from parted
left join calls using (name)
cross join whole
group by name
