-- purpose = "Kernels of a run that is compared with itself take their time per step in both."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "comparison"
-- keys = ["name"]
-- options.by = ["kernel", "op", "phase", "category"]
-- needs = ["attribution"]
-- upon = "kernel_kind"
-- is_partial = true
with
    steps as (
        select distinct source_id, step_index
        from step
        where run_id = $run_id
        union
        -- a recording without steps counts as one
        select distinct source_id, null
        from attribution
        where
            run_id = $run_id
            and source_id not in (select source_id from step where run_id = $run_id)
    ),
    parts as (
        select
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
        left join calling_context using (run_id, source_id, context_id)
        left join kernel_kind using (source_id, event_id)
        where
            run_id = $run_id
            and (
                step_index is not null
                or source_id not in (select source_id from step where run_id = $run_id)
            )
    ),
    times as (
        select
            names.name,
            coalesce(sum(dur_ns), 0) as step_ns,
            count(dur_ns) as launch_count,
            count(steps.step_index) as step_count
        from steps
        cross join (select distinct name from parts) as names
        left join
            parts
            on parts.source_id = steps.source_id
            and parts.step_index is not distinct from steps.step_index
            and parts.name = names.name
        group by steps.source_id, steps.step_index, names.name
    ),
    means as (
        select
            name,
            avg(step_ns) as mean_ns,
            avg(launch_count) as mean_count,
            if(count(*) > 1, stddev_samp(step_ns), null) as stddev_ns,
            nullif(sum(least(step_count, 1)), 0) as step_count
        from times
        group by name
    )
select
    name,
    mean_ns as a_ns,
    mean_ns as b_ns,
    0 as delta_ns,
    mean_count as a_launch_count,
    mean_count as b_launch_count,
    if(
        name = '(all)', null, mean_ns / max(mean_ns) filter (where name = '(all)') over ()
    ) as a_share_ratio,
    if(
        name = '(all)', null, mean_ns / max(mean_ns) filter (where name = '(all)') over ()
    ) as b_share_ratio,
    stddev_ns as a_stddev_ns,
    stddev_ns as b_stddev_ns,
    step_count as a_step_count,
    step_count as b_step_count,
    'same' as change_kind,
    false as is_beyond_noise,
    'name' as match_basis,
    if(name = '(all)', 'total', 'part') as row_kind,
    case
        when step_count is null
        then 'not by steps: spread unknown'
        when step_count < 2
        then 'fewer than 2 steps: spread unknown'
    end as reason
from means
where
    (select count(*) from source_file where run_id = $run_id and recording_kind = 'timeline') <= 1
    and (select count(distinct source_id) from attribution where run_id = $run_id) = 1
    and not exists (from attribution where run_id = $run_id and dur_ns is null)
    and ($by <> 'category' or (select bool_and(is_collective is not null) from kernel_kind))
