-- purpose = "Configurations of a sweep: rows of tables of results, and runs that are one
-- configuration each."
-- source = "view sweep_table, table configuration; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["sweep_table"]
-- columns = "configuration_id run_id source_id-sweep event_id-row title status_kind status_text"
-- configuration_id = "base_id of its sweep_table + event_id"
select
    base_id + event_id as configuration_id,
    sweep_table.run_id,
    sweep_table.source_id,
    event_id,
    title,
    status_kind,
    status_text
from configuration
join sweep_table using (run_id, source_id)
union all
select base_id, run_id, source_id, 0, title, 'ok', null
from sweep_table
where source_id = 'run'
