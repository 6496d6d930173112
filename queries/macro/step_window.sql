-- purpose = "Steps that a report is restricted to, in each source, and their time on its devices."
-- source = "Zhu 2018 (TBD), sect. 3.4: sampling after warm-up and auto-tuning; docs/metrics.md,
-- section Steps and the stable phase"
-- needs = ["attribution"]
-- depends = ["whole_window", "step_span", "stable_phase"]
-- is_kept = true
-- parameters = "wanted_run wanted_phase"
-- wanted_phase = "all, stable (the stable phase of each source of the run) or N..M (step numbers,
-- inclusive)"
-- columns = "run_id source_id first_step_index last_step_index start_ns end_ns"
-- first_step_index = "BIGINT: first step; NULL: all work, in a step or not"
-- start_ns = "start of the first step, or of the whole window"
-- end_ns = "end of the last step, or of the whole window"
with
    phases as (
        select
            run_id,
            case
                when bool_or(reason is not null)
                then
                    error(
                        'no stable phase in source '
                        || arg_min(source_id, source_id) filter (where reason is not null)
                        || ': '
                        || arg_min(reason, source_id) filter (where reason is not null)
                        || '. Ask for phase all, or for steps N..M'
                    )
                when max(first_step_index) > min(last_step_index)
                then
                    error(
                        'the sources of run '
                        || run_id
                        || ' have stable phases without a step in common. Ask for phase all, '
                        || 'or for steps N..M'
                    )
                else max(first_step_index)
            end as first_step_index,
            min(last_step_index) as last_step_index
        from stable_phase(wanted_run)
        where wanted_phase = 'stable'
        group by run_id
    ),
    numbers as (
        select
            case
                when wanted_phase in ('all', 'stable')
                then null
                when not regexp_full_match(wanted_phase, '\d{1,18}\.\.\d{1,18}')
                then
                    error(
                        'there is no phase "'
                        || wanted_phase
                        || '": phase must be all, stable or N..M, e.g. 3..7'
                    )
                when
                    cast(split_part(wanted_phase, '..', 1) as bigint)
                    > cast(split_part(wanted_phase, '..', 2) as bigint)
                then
                    error(
                        'phase '
                        || wanted_phase
                        || ' ends before it begins: write the smaller number first'
                    )
                else cast(split_part(wanted_phase, '..', 1) as bigint)
            end as first_step_index,
            case
                when wanted_phase not in ('all', 'stable')
                then cast(split_part(wanted_phase, '..', 2) as bigint)
            end as last_step_index
    ),
    chosen as (
        select
            spans.*,
            coalesce(phases.first_step_index, numbers.first_step_index) as first_asked,
            coalesce(phases.last_step_index, numbers.last_step_index) as last_asked
        from step_span(wanted_run) as spans
        cross join numbers
        left join phases using (run_id)
        where wanted_phase <> 'all' and step_index between first_asked and last_asked
    ),
    found as (
        select
            case
                when wanted_phase <> 'all' and count(*) = 0
                then
                    error(
                        'the run has no ' || case
                            wanted_phase
                            when 'stable'
                            then 'steps, so that none are stable'
                            else 'steps ' || wanted_phase
                        end
                        || '. The report steps lists those that it has. Ask for phase all'
                    )
                else true
            end as is_found
        from chosen
    )
select
    run_id,
    source_id,
    cast(null as bigint) as first_step_index,
    cast(null as bigint) as last_step_index,
    start_ns,
    end_ns
from whole_window(wanted_run)
where wanted_phase = 'all'
union all
select run_id, source_id, first_step_index, last_step_index, start_ns, end_ns
from found
left join
    (
        select
            run_id,
            source_id,
            first_asked as first_step_index,
            last_asked as last_step_index,
            min(start_ns) as start_ns,
            max(end_ns) as end_ns
        from chosen
        group by run_id, source_id, first_asked, last_asked
    )
    on is_found
where run_id is not null
