-- purpose = "Modules take the time of their kernels, or of their operators in files without any."
-- source = "docs/metrics.md, section Layers"
-- report = "layers"
-- keys = ["layer_path"]
-- options.depth = [99, 1]
-- needs = ["calling_context"]
-- upon = "layer_part"
with
    steps as (
        select nullif(count(distinct(source_id, step_index)), 0) as step_count
        from layer_part
        where step_index is not null
    ),
    summed as (
        select
            -- 99 is deeper than any
            array_to_string(string_split(module_path, '/')[:$depth], '/') as module_path,
            sum(dur_ns) as all_ns,
            sum(if(step_index is null, 0, dur_ns)) as in_steps_ns,
            sum(dur_ns) filter (where phase_kind = 'forward') as forward,
            sum(dur_ns) filter (where phase_kind = 'backward') as backward,
            sum(dur_ns) filter (where phase_kind = 'other') as other,
            sum(if(step_index is null, 0, dur_ns)) filter (
                where phase_kind = 'forward'
            ) as forward_in_steps_ns,
            sum(if(step_index is null, 0, dur_ns)) filter (
                where phase_kind = 'backward'
            ) as backward_in_steps_ns,
            count(*) filter (where phase_kind = 'forward') as forward_count,
            count(*) filter (where phase_kind = 'backward') as backward_count,
            count(*) filter (where phase_kind = 'other') as other_count,
            sum(kernel_count) as kernel_count
        from layer_part
        group by 1
    )
select
    coalesce(module_path, '(no module)') as layer_path,
    if(forward_count = 0, 0, forward) as forward_ns,
    if(backward_count = 0, 0, backward) as backward_ns,
    if(other_count = 0, 0, other) as other_ns,
    all_ns / nullif(sum(all_ns) over (), 0) as share_ratio,
    if(all_ns is null, null, coalesce(in_steps_ns, 0)) / step_count as step_ns,
    if(forward_count > 0 and forward is null, null, coalesce(forward_in_steps_ns, 0))
    / step_count as forward_step_ns,
    if(backward_count > 0 and backward is null, null, coalesce(backward_in_steps_ns, 0))
    / step_count as backward_step_ns,
    step_count,
    kernel_count
from summed
cross join steps
