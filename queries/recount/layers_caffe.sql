-- purpose = "Layers of one network that a framework timed on average: what they take of it, and
-- what is left."
-- source = "docs/metrics.md, section Layers"
-- report = "layers"
-- keys = ["layer_path"]
-- needs = ["layer_stat"]
with
    part as (
        select
            coalesce(name, '(no layer)') as layer_path,
            coalesce(phase_kind, 'whole') as phase,
            if(statistic_kind = 'mean', 1, iteration_count) as over_count,
            sum(dur_ns) as ns,
            sum(round(dur_ns / over_count)) as mean_ns
        from layer_stat
        where
            run_id = $run_id
            and statistic_kind <> 'single'
            -- what is said twice is told by its mean
            and (
                statistic_kind = 'mean'
                or name is not null
                or phase_kind is not null
                or not exists (from layer_stat where run_id = $run_id and statistic_kind = 'mean')
            )
        group by all
    ),
    plain as (
        select
            count(distinct(source_id, net_index)) = 1
            and count(distinct statistic_kind) filter (
                where name is not null or phase_kind is not null
            )
            = 1
            and bool_and(
                statistic_kind in ('mean', 'sum', 'single') and iteration_count > 0
            ) as is_plain,
            max(iteration_count) as step_count
        from layer_stat
        where run_id = $run_id
    ),
    pass as (
        select
            max(ns) filter (where phase = 'forward') as forward,
            max(ns) filter (where phase = 'backward') as backward,
            max(ns) filter (where phase = 'whole') as whole,
            (
                select coalesce(sum(ns), 0)
                from part
                where layer_path <> '(no layer)' and phase = 'forward'
            ) as forward_sum,
            (
                select coalesce(sum(ns), 0)
                from part
                where layer_path <> '(no layer)' and phase = 'backward'
            ) as backward_sum
        from part
        where layer_path = '(no layer)'
    ),
    rest as (
        select
            unnest(['forward', 'backward', 'other']) as phase,
            greatest(
                0,
                unnest(
                    [
                        forward - forward_sum,
                        backward - backward_sum,
                        whole - greatest(forward, forward_sum) - greatest(backward, backward_sum)
                    ]
                )
            ) as ns
        from pass
    ),
    listed as (
        select layer_path, phase, ns, mean_ns
        from part
        where layer_path <> '(no layer)'
        union all
        select '(no layer)', phase, ns, round(ns / per)
        from rest
        cross join (select max(over_count) as per from part where phase <> 'whole')
    ),
    counted as (
        select
            layer_path,
            sum(mean_ns) filter (where phase = 'forward') as forward,
            sum(mean_ns) filter (where phase = 'backward') as backward,
            sum(mean_ns) filter (where phase = 'other') as other,
            sum(mean_ns) as mean_ns,
            sum(ns) as ns
        from listed
        where ns > 0 or layer_path <> '(no layer)'
        group by layer_path
    )
select
    layer_path,
    forward as forward_ns,
    backward as backward_ns,
    other as other_ns,
    mean_ns as step_ns,
    forward as forward_step_ns,
    backward as backward_step_ns,
    ns / sum(ns) over () as share_ratio,
    step_count
from counted
cross join plain
where
    is_plain
    -- which has layers of its work
    and not exists (from attribution where run_id = $run_id)
