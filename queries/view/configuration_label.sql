-- purpose = "Labels of each configuration of a sweep: from its table, else from its run."
-- source = "tables configuration_value and run_label; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["label_value", "sweep_configuration", "sweep_table"]
-- columns = "configuration_id run_id label_name label_value label_number"
with
    in_tables as (
        select distinct run_id, source_id, column_name as label_name
        from configuration_value
        join
            (select distinct run_id, label_name as column_name from run_label) using (
                run_id, column_name
            )
        where role_kind = 'label'
    )
select
    base_id + event_id as configuration_id,
    run_id,
    column_name as label_name,
    value_text as label_value,
    value as label_number
from configuration_value
join sweep_table using (run_id, source_id)
where role_kind = 'label'
union all
select here.configuration_id, here.run_id, given.label_name, given.label_value, given.label_number
from sweep_configuration as here
join label_value as given on given.run_id = here.run_id
left join
    in_tables
    on in_tables.run_id = here.run_id
    and in_tables.source_id = here.source_id
    and in_tables.label_name = given.label_name
where in_tables.run_id is null
