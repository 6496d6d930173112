-- purpose = "Every configuration of a sweep: rows of tables of results, and runs that are one
-- configuration each."
-- source = "view sweep_table, table configuration; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["sweep_table"]
-- [columns]
-- configuration_id = {type = "BIGINT", doc = "the configuration: base_id of its sweep_table +
-- event_id"}
-- run_id = {type = "VARCHAR", doc = "run"}
-- source_id = {type = "VARCHAR", doc = "source of the table; the word run if a run is itself a
-- configuration"}
-- event_id = {type = "BIGINT", doc = "row of the table; 0 for a run"}
-- title = {type = "VARCHAR", doc = "name of the run"}
-- status_kind = {type = "VARCHAR", doc = "ok or failed"}
-- status_text = {type = "VARCHAR", doc = "what the table says of it"}
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
