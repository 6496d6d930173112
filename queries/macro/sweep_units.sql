-- purpose = "No rows if a metric of a sweep has one unit; else an error with the units and where
-- each is."
-- source = "table configuration_value; docs/metrics.md, section Sweeps"
-- depends = ["sweep_table"]
-- parameters = "wanted_metric wanted_runs wanted_ids"
-- columns = "unknown_name"
with
    units as (
        select unit, min(title) as title
        from configuration_value
        join sweep_table using (run_id, source_id)
        where
            role_kind = 'metric'
            and column_name = wanted_metric
            and value is not null
            and title glob wanted_runs
            and (wanted_ids is null or list_contains(string_split(wanted_ids, ','), run_id))
        group by unit
    )
select
    error(
        wanted_metric
        || ' has several units: '
        || string_agg(coalesce(unit, 'none') || ' in ' || title, ', ' order by unit nulls last)
        || '; ask for runs with one of them, or say at ingest what it is: --columns metrics='
        || wanted_metric
        || ':UNIT'
    ) as unknown_name
from units
having count(*) > 1
