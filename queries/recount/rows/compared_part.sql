-- purpose = "Parts of the two runs of a comparison that have the same name: time and launches per
-- step of each."
-- upon = "kernel_kind"
with
    sides as (
        select
            unnest(['a', 'b']) as side,
            unnest([$run_id, coalesce($other_run_id, $run_id)]) as run_id
    ),
    steps as (
        select distinct side, source_id, step_index
        from step
        join sides using (run_id)
        union
        -- a recording without steps counts as one
        select distinct side, source_id, null
        from attribution
        join sides using (run_id)
        where source_id not in (select source_id from step)
    ),
    parts as (
        select
            side,
            source_id,
            step_index,
            case
                $by
                when 'op'
                then op_name
                when 'phase'
                then phase_kind
                when 'category'
                then
                    case
                        when work_kind <> 'kernel'
                        then work_kind
                        when is_collective
                        then 'communication'
                        else 'compute'
                    end
                else attribution.name
            end as part_name,
            unnest([coalesce(part_name, '(unknown)'), '(all)']) as name,
            dur_ns
        from attribution
        join sides using (run_id)
        left join calling_context using (run_id, source_id, context_id)
        left join kernel_kind using (source_id, event_id)
        where step_index is not null or source_id not in (select source_id from step)
    ),
    times as (
        select
            names.side,
            names.name,
            coalesce(sum(dur_ns), 0) as step_ns,
            count(dur_ns) as launch_count,
            count(steps.step_index) as step_count
        from steps
        join (select distinct side, name from parts) as names using (side)
        left join
            parts
            on parts.side = names.side
            and parts.source_id = steps.source_id
            and parts.step_index is not distinct from steps.step_index
            and parts.name = names.name
        group by names.side, steps.source_id, steps.step_index, names.name
    ),
    means as (
        select
            side,
            name,
            avg(step_ns) as mean_ns,
            avg(launch_count) as mean_count,
            mean_ns / max(avg(step_ns)) filter (where name = '(all)') over (
                partition by side
            ) as share_ratio,
            if(count(*) > 1, stddev_samp(step_ns), null) as stddev_ns,
            nullif(sum(least(step_count, 1)), 0) as step_count
        from times
        group by side, name
    )
select
    name,
    a.mean_ns as a_ns,
    b.mean_ns as b_ns,
    a.mean_count as a_launch_count,
    b.mean_count as b_launch_count,
    if(name = '(all)', null, a.share_ratio) as a_share_ratio,
    if(name = '(all)', null, b.share_ratio) as b_share_ratio,
    a.stddev_ns as a_stddev_ns,
    b.stddev_ns as b_stddev_ns,
    a.step_count as a_step_count,
    b.step_count as b_step_count
from (from means where side = 'a') as a
join (from means where side = 'b') as b using (name)
where
    -- one timeline each, both with steps or both without, and all times known
    (
        select bool_and(sources = 1 and unknowns = 0)
        from
            (
                select
                    side, count(distinct source_id) as sources, count(*) - count(dur_ns) as unknowns
                from sides
                left join attribution using (run_id)
                group by side
            )
    )
    and (
        select bool_and(timelines <= 1)
        from
            (
                select side, count(*) filter (where recording_kind = 'timeline') as timelines
                from sides
                left join source_file using (run_id)
                group by side
            )
    )
    and (a.step_count is null) = (b.step_count is null)
    and (
        $by <> 'category'
        or ($other_run_id is null and (select bool_and(is_collective is not null) from kernel_kind))
    )
