-- purpose = "Launches with counters and their group, for reports about kernels: all columns of
-- work_under, and the group."
-- source = "docs/queries.md: the parameter `by`"
-- needs = ["kernel_counter"]
-- depends = ["work_under", "run_group", "group_of", "step_launch"]
-- parameters = "wanted_run wanted_phase grouping_kind-launches wanted_label
-- wanted_ceiling-launches convention"
-- columns = "group_name-launches group_number owner_id launch_event"
select
    work.*,
    group_of(grouping_kind, work.name, run_group.title, run_group.label_value) as group_name,
    run_group.label_number as group_number,
    -- two runs, or launches of two sources, can have one name
    case
        grouping_kind when 'launch' then work.source_id when 'run' then work.run_id
    end as owner_id,
    case when grouping_kind = 'launch' then work.event_id end as launch_event
from work_under(wanted_ceiling, convention) as work
join
    run_group(wanted_run, grouping_kind, wanted_label) as run_group
    on run_group.run_id = work.run_id
where
    (wanted_run is null or work.run_id = wanted_run)
    and (
        wanted_phase = 'all'
        or (work.run_id, work.source_id, work.event_id)
        in (select (run_id, source_id, event_id) from step_launch(wanted_run, wanted_phase))
    )
    and case
        when grouping_kind = 'label' and wanted_label is null
        then error('by=label needs label=NAME')
        else true
    end
