-- purpose = "Coverage of attribution: kernels and kernel time with a known launch, operator,
-- module, phase and step, and why the rest is unknown."
-- source = "docs/metrics.md, section Attribution"
-- topic = "store"
-- needs = ["attribution"]
-- depends = ["step_window", "sum_where"]
-- parameters = "run_id phase"
-- columns = "rank_index link_kind known_ratio known_time_ratio reason reason_ns kernel_count
-- known_count total_ns known_ns reason_count source_id-rank"
-- link_kind = "VARCHAR: attribute: launch, op, module, phase or step"
-- known_ratio = "known_count / kernel_count"
-- known_time_ratio = "known_ns / total_ns"
-- reason = "why the rest is unknown: the reason with the most time; NULL if all is known"
-- reason_ns = "BIGINT: sum of their durations"
-- known_count = "BIGINT: kernels with a known value"
-- total_ns = "sum of all kernel durations"
-- known_ns = "sum of the durations of kernels with a known value"
-- reason_count = "BIGINT: kernels with that reason"
with
    work as materialized(select * from attribution where run_id = $run_id and work_kind = 'kernel'),
    context as materialized(
        select source_id, context_id, module_path, phase_kind
        from calling_context
        where run_id = $run_id
    ),
    kernels as (
        select work.*, context.module_path, context.phase_kind
        from work
        join
            step_window($run_id, $phase) as chosen
            on chosen.source_id = work.source_id
            and (
                chosen.first_step_index is null
                or work.step_index between chosen.first_step_index and chosen.last_step_index
            )
        left join
            context on context.source_id = work.source_id and context.context_id = work.context_id
    ),
    linked as (
        select
            source_id,
            1 as place,
            'launch' as link_kind,
            dur_ns,
            launch_event_id is not null as is_known,
            launch_reason as reason
        from kernels
        union all
        select source_id, 2, 'op', dur_ns, op_name is not null, op_reason
        from kernels
        union all
        select source_id, 3, 'module', dur_ns, module_path is not null, module_reason
        from kernels
        union all
        select source_id, 4, 'phase', dur_ns, phase_kind is not null, phase_reason
        from kernels
        union all
        select
            source_id,
            5,
            'step',
            dur_ns,
            step_index is not null,
            case
                when launch_event_id is null and op_event_id is null
                then launch_reason
                else 'in no step'
            end
        from kernels
    ),
    reasons as (
        select
            source_id,
            place,
            reason,
            count(*) as reason_count,
            cast(sum(dur_ns) as bigint) as reason_ns
        from linked
        where not is_known
        group by source_id, place, reason
    ),
    main_reason as (
        select *
        from reasons
        qualify
            row_number() over (
                partition by source_id, place
                order by reason_ns desc nulls last, reason_count desc, reason
            )
            = 1
    ),
    counted as (
        select
            source_id,
            place,
            link_kind,
            count(*) filter (where is_known) as known_count,
            count(*) as kernel_count,
            sum_where(dur_ns, is_known) as known_ns,
            cast(sum(dur_ns) as bigint) as total_ns
        from linked
        group by source_id, place, link_kind
    )
select
    source_file.rank_index,
    counted.link_kind,
    ratio(counted.known_count, counted.kernel_count) as known_ratio,
    ratio(counted.known_ns, counted.total_ns) as known_time_ratio,
    main_reason.reason,
    main_reason.reason_ns,
    counted.kernel_count,
    counted.known_count,
    counted.total_ns,
    counted.known_ns,
    main_reason.reason_count,
    counted.source_id
from counted
left join
    main_reason on main_reason.source_id = counted.source_id and main_reason.place = counted.place
left join source_file on source_file.source_id = counted.source_id and source_file.run_id = $run_id
order by source_file.rank_index nulls last, counted.source_id, counted.place
