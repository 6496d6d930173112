-- purpose = "Differences between runs A and B: time per step of each kernel, operator or layer,
-- and whether the change exceeds the noise."
-- source = "Welch 1947 (difference of two means); docs/metrics.md, section Comparing runs"
-- topic = "comparison"
-- needs = ["source_file"]
-- depends = ["comparison_series", "noise_of"]
-- parameters = "run_id-a other_run_id by-compared phase"
-- columns = "change_kind name other_name a_ns b_ns delta_ns delta_ratio noise_ns is_beyond_noise
-- a_launch_count b_launch_count a_share_ratio b_share_ratio a_stddev_ns b_stddev_ns a_step_count
-- b_step_count match_basis reason row_kind"
-- change_kind = "VARCHAR: slower, faster, same (within noise), only A or only B; NULL if a time
-- is unknown"
-- name = "full name; parentheses mark rows that are not parts: (step), (elapsed), (device busy),
-- (device idle), (all); (unknown): parts without a name"
-- a_ns = "DOUBLE: time in A: mean per step (of a total of all steps, too), or of the recording;
-- mean over sources (ranks)"
-- b_ns = "DOUBLE: the same for B"
-- delta_ns = "DOUBLE: b_ns - a_ns"
-- delta_ratio = "DOUBLE: delta_ns / a_ns"
-- noise_ns = "DOUBLE: difference of the means that noise can explain; NULL if a run has fewer
-- than 2 steps"
-- is_beyond_noise = "BOOLEAN: whether the size of delta_ns exceeds noise_ns; NULL if unknown"
-- a_launch_count = "DOUBLE: launches (calls for operators) in A, mean per step like the time"
-- b_launch_count = "DOUBLE: the same for B"
-- a_share_ratio = "DOUBLE: a_ns / a_ns of (all)"
-- b_share_ratio = "DOUBLE: the same for B"
-- a_stddev_ns = "DOUBLE: standard deviation over the steps of A; a step without the part counts
-- as 0 ns"
-- b_stddev_ns = "DOUBLE: the same for B"
-- a_step_count = "BIGINT: steps whose own times are in the mean a_ns; NULL: a total of the
-- recording, divided by its steps if there are any"
-- b_step_count = "BIGINT: the same for B"
-- match_basis = "VARCHAR: how A and B were matched: name, or owner (operator of a kernel, caller
-- of an operator) with module and shapes if both runs have them; NULL for only A and only B"
with
    series as materialized(from comparison_series($run_id, $other_run_id, $phase, $by)),
    -- in one order: the same times give the same figures
    summed as (
        select
            row_kind,
            side,
            name,
            other_name,
            match_basis,
            any_value(side_step_count) as side_step_count,
            sum(value_ns order by step_index, value_ns) as sum_ns,
            sum(work_count order by step_index, work_count) as work_count,
            sum(unknown_count) as unknown_count,
            count(step_index) as present_count,
            avg(value_ns order by step_index, value_ns) as present_mean_ns,
            var_pop(value_ns order by step_index, value_ns) as present_variance
        from series
        group by row_kind, side, name, other_name, match_basis
    ),
    -- a step without the part spent 0 ns on it; of a step whose own time is not known nothing is
    counted as (
        select
            *,
            case
                when present_count > 0 and row_kind in ('part', 'total')
                then side_step_count
                else nullif(present_count, 0)
            end as step_count
        from summed
    ),
    means as (
        select
            row_kind,
            side,
            name,
            other_name,
            match_basis,
            unknown_count,
            step_count,
            ratio(sum_ns, coalesce(step_count, 1)) as mean_ns,
            ratio(work_count, coalesce(step_count, 1)) as launch_count,
            case
                when row_kind = 'part'
                then
                    ratio(
                        mean_ns,
                        max(mean_ns) filter (where row_kind = 'total') over (partition by side)
                    )
            end as share_ratio,
            ratio(
                present_count * present_variance
                + ratio(present_count * (step_count - present_count), step_count)
                * pow(present_mean_ns, 2),
                step_count - 1
            ) as variance
        from counted
    ),
    -- a part that a run lacks took 0 ns of each of its steps
    nothing as (select side, any_value(side_step_count) as step_count from series group by side),
    filled as (
        select *, true as is_there
        from means
        union all
        select
            means.row_kind,
            nothing.side,
            means.name,
            means.other_name,
            means.match_basis,
            0,
            case
                when means.step_count is not null then nothing.step_count
            end as missing_step_count,
            0,
            0,
            0,
            case when missing_step_count > 1 then 0 end,
            false
        from means
        join nothing on nothing.side <> means.side
        where means.row_kind = 'part' and means.match_basis is null
    ),
    compared as (
        select
            coalesce(a.row_kind, b.row_kind) as row_kind,
            coalesce(a.name, b.name) as name,
            coalesce(a.other_name, b.other_name) as other_name,
            coalesce(a.match_basis, b.match_basis) as match_basis,
            a.is_there as is_in_a,
            b.is_there as is_in_b,
            a.mean_ns as a_ns,
            b.mean_ns as b_ns,
            b_ns - a_ns as delta_ns,
            a.launch_count as a_launch_count,
            b.launch_count as b_launch_count,
            a.share_ratio as a_share_ratio,
            b.share_ratio as b_share_ratio,
            sqrt(a.variance) as a_stddev_ns,
            sqrt(b.variance) as b_stddev_ns,
            a.step_count as a_step_count,
            b.step_count as b_step_count,
            noise_of(a.variance, a.step_count, b.variance, b.step_count) as noise_ns,
            a.unknown_count + b.unknown_count as unknown_count
        from (from filled where side = 'a') as a
        full join
            (from filled where side = 'b') as b
            on b.row_kind = a.row_kind
            and b.name is not distinct from a.name
            and b.other_name is not distinct from a.other_name
            and b.match_basis is not distinct from a.match_basis
    ),
    judged as (
        select
            *,
            case
                when a_ns is null and b_ns is null
                then 'time unknown in A and B'
                when a_ns is null
                then 'time unknown in A'
                when b_ns is null
                then 'time unknown in B'
                when row_kind = 'idle' and least(a_ns, b_ns) < 0
                then 'device work runs on past the end of its step'
                when unknown_count > 0
                then 'time of ' || unknown_count || ' launches unknown'
                when a_step_count is null
                then 'not by steps: spread unknown'
                when noise_ns is null
                then 'fewer than 2 steps: spread unknown'
            end as reason,
            reason is null or reason like '%spread%' as is_known,
            case
                when is_known and delta_ns = 0
                then false
                when reason is null
                then abs(delta_ns) > noise_ns
            end as is_beyond_noise
        from compared
    )
select
    case
        when not is_in_b
        then 'only A'
        when not is_in_a
        then 'only B'
        when not is_known
        then null
        when is_beyond_noise is not distinct from false
        then 'same'
        when delta_ns > 0
        then 'slower'
        else 'faster'
    end as change_kind,
    case
        row_kind
        when 'part'
        then coalesce(name, '(unknown)')
        when 'total'
        then '(all)'
        when 'step'
        then '(step)'
        when 'elapsed'
        then '(elapsed)'
        else '(device ' || row_kind || ')'
    end as name,
    other_name,
    a_ns,
    b_ns,
    delta_ns,
    ratio(delta_ns, a_ns) as delta_ratio,
    noise_ns,
    is_beyond_noise,
    a_launch_count,
    b_launch_count,
    a_share_ratio,
    b_share_ratio,
    a_stddev_ns,
    b_stddev_ns,
    a_step_count,
    b_step_count,
    match_basis,
    reason,
    row_kind
from judged
order by
    list_position(['step', 'elapsed', 'busy', 'idle', 'total', 'part'], row_kind),
    abs(delta_ns) desc nulls last,
    greatest(a_ns, b_ns) desc nulls last,
    name,
    other_name,
    match_basis
