-- purpose = "Stable are the steps of the longest row in which no two differ by 10 % in time, or
-- by 1 % in kernels."
-- source = "docs/metrics.md, section The stable phase"
-- report = "steps"
-- keys = ["source_id", "step_index"]
-- needs = ["step"]
-- upon = "plain_step"
-- is_partial = true
with
    counted as (
        select
            source_id,
            step_index,
            step_ns,
            is_worked,
            count(event_id) filter (where work_kind = 'kernel') as kernels
        from plain_step
        left join
            (from attribution where run_id = $run_id) as attribution using (source_id, step_index)
        group by source_id, step_index, step_ns, is_worked
        -- all pairs of many steps are too many
        qualify count(*) over () <= 100
    ),
    phase as (
        select source_id, first_step.step_index as first_index, last_step.step_index as last_index
        from counted as first_step
        join counted as last_step using (source_id)
        join counted as each_one using (source_id)
        where each_one.step_index between first_step.step_index and last_step.step_index
        group by all
        having
            min(each_one.step_ns) > 0
            and count(*) > 1
            and 9 * max(each_one.step_ns) <= 11 * min(each_one.step_ns)
            and 100 * max(each_one.kernels) <= 101 * min(each_one.kernels)
    ),
    longest as (
        select
            source_id,
            max_by(first_index, (last_index - first_index, last_index)) as first_index,
            max_by(last_index, (last_index - first_index, last_index)) as last_index
        from phase
        group by source_id
    ),
    judged as (
        select
            counted.*,
            first_index,
            coalesce(step_index between first_index and last_index, false) as is_stable,
            median(step_ns) filter (where is_stable) over source as usual_ns,
            median(kernels) filter (where is_stable) over source as usual_count,
            count(*) over source as steps
        from counted
        left join longest using (source_id)
        window source as (partition by source_id)
    )
select
    source_id,
    step_index,
    is_stable,
    'host' as step_kind,
    case
        when is_stable
        then if(is_worked, null, 'no work of a device')
        when steps = 1
        then 'one step only'
        when first_index is null
        then 'no two steps in a row within 10 % and with the same kernels'
        when 100 * abs(kernels - usual_count) > usual_count
        then kernels || ' kernels, they have ' || usual_count::bigint
        when step_ns not between 0.9 * usual_ns and 1.1 * usual_ns
        then printf('takes %.2f of their time', step_ns / usual_ns)
        else 'like stable steps, but apart from them'
    end as reason
from judged
where
    (select count(*) from counted) <= 100 and not exists (from kernel_match where run_id = $run_id)
