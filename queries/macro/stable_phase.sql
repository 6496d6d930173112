-- purpose = "Stable phase of each source: the longest run of consecutive steps in which no step
-- takes more than 11/9 of the time of another (10 % around the middle) or launches 1 % more
-- kernels."
-- source = "Zhu 2018 (TBD), sect. 3.4: sampling after warm-up and auto-tuning; docs/metrics.md,
-- section Steps and the stable phase"
-- needs = ["attribution"]
-- depends = ["step_span", "unlike_steps", "work_span"]
-- is_kept = true
-- parameters = "wanted_run"
-- columns = "run_id source_id first_step_index last_step_index step_count reason"
-- first_step_index = "BIGINT: first step of the phase; NULL if there is none"
-- last_step_index = "last step of the phase"
-- step_count = "steps in the phase; 0 without one"
with
    spans as materialized(from step_span(wanted_run)),
    -- parts of 256 steps: pairs of all steps would be too many where there are a hundred thousand
    numbered as materialized(
        select
            *,
            divide(
                row_number() over (partition by run_id, source_id order by step_index) - 1, 256
            ) as part_index
        from spans
    ),
    parts as materialized(
        select
            run_id,
            source_id,
            part_index,
            min(elapsed_ns) as least_ns,
            max(elapsed_ns) as most_ns,
            min(kernel_count) as least_count,
            max(kernel_count) as most_count
        from numbered
        group by run_id, source_id, part_index
    ),
    -- where to look for the latest step that is unlike a step: in its own part, else in the
    -- latest that has one
    places as (
        select numbered.*, part_index as wanted_index
        from numbered
        union all
        select later.*, max(parts.part_index)
        from numbered as later
        join
            parts
            on parts.run_id = later.run_id
            and parts.source_id = later.source_id
            and parts.part_index < later.part_index
            and (
                unlike_steps(
                    parts.least_ns, later.elapsed_ns, parts.least_count, later.kernel_count
                )
                or unlike_steps(
                    parts.most_ns, later.elapsed_ns, parts.most_count, later.kernel_count
                )
            )
        group by all
    ),
    -- a pair of steps that cannot be in one phase: the later one, and the latest before it
    broken as (
        select
            later.run_id, later.source_id, later.step_index, max(earlier.step_index) as broken_index
        from places as later
        join
            numbered as earlier
            on earlier.run_id = later.run_id
            and earlier.source_id = later.source_id
            and earlier.part_index = later.wanted_index
            and earlier.step_index < later.step_index
            and unlike_steps(
                earlier.elapsed_ns, later.elapsed_ns, earlier.kernel_count, later.kernel_count
            )
        group by later.run_id, later.source_id, later.step_index
    ),
    -- what breaks a run at a step by itself: a step before it is not there, or its time is not
    -- known
    gaps as (
        select
            spans.*,
            broken_index,
            case
                when elapsed_ns is null or elapsed_ns <= 0
                then step_index
                when
                    lag(step_index) over before is distinct from step_index - 1
                    or lag(elapsed_ns) over before is null
                then step_index - 1
            end as gap_index
        from spans
        left join broken using (run_id, source_id, step_index)
        window before as (partition by run_id, source_id order by step_index)
    ),
    runs as (
        select
            run_id,
            source_id,
            step_index,
            step_index - max(greatest(broken_index, gap_index)) over (
                partition by run_id, source_id order by step_index rows unbounded preceding
            ) as run_length
        from gaps
    ),
    longest as (
        select
            run_id,
            source_id,
            count(*) as all_count,
            max(run_length) as step_count,
            max(step_index) filter (where run_length = most) as last_step_index
        from (select *, max(run_length) over (partition by run_id, source_id) as most from runs)
        group by run_id, source_id
    ),
    sources as (
        select run_id, source_id
        from longest
        union
        select run_id, source_id
        from work_span(wanted_run)
    )
select
    run_id,
    source_id,
    case when step_count > 1 then last_step_index - step_count + 1 end as first_step_index,
    case when step_count > 1 then last_step_index end as last_step_index,
    case when step_count > 1 then step_count else 0 end as step_count,
    case
        when all_count is null
        then 'no steps: nothing marks them, and kernels do not repeat so that they show'
        when all_count = 1
        then 'one step only'
        when step_count < 2
        then 'no two steps in a row within 10 % and with the same kernels'
    end as reason
from sources
left join longest using (run_id, source_id)
