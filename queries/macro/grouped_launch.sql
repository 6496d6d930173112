-- purpose = "Every launch with counters and the group that it is in: what the reports about
-- kernels add up. All columns of work_under, and those of the group."
-- source = "docs/queries.md: the parameter `by`"
-- needs = ["kernel_counter"]
-- depends = ["work_under", "run_group", "group_of"]
-- [parameters]
-- wanted_run = {type = "VARCHAR", doc = "run; NULL for all of them"}
-- grouping_kind = {type = "VARCHAR", doc = "name, launch, run or label"}
-- wanted_label = {type = "VARCHAR", doc = "with label: which"}
-- wanted_ceiling = {type = "VARCHAR", doc = "as of work_under"}
-- convention = {type = "VARCHAR", doc = "of FP16: arithmetic, packed or scalar"}
-- [columns]
-- group_name = {type = "VARCHAR", doc = "kernel, or run or value of the label"}
-- group_number = {type = "DOUBLE", doc = "of a label: its value as a number"}
-- owner_id = {type = "VARCHAR", doc = "of a launch its source, of a run the run: what tells equal
-- names apart"}
-- launch_event = {type = "BIGINT", doc = "of a launch: place in the source"}
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
    and case
        when grouping_kind = 'label' and wanted_label is null
        then error('by=label needs label=NAME')
        else true
    end
