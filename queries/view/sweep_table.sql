-- purpose = "Sources of a sweep: tables of results, and runs that are one configuration each."
-- source = "tables configuration, run_label and run_metric; docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["run_title"]
-- columns = "run_id source_id-sweep title configuration_count base_id"
-- base_id = "BIGINT: configuration_id of row 0, so that each row of all tables has its own"
with
    -- numbered by what is stored, not by what is in it: a question about one run then reads no
    -- file of another
    numbers as (
        select run_id, source_id, row_number() over (order by run_id, source_id) << 40 as base_id
        from
            (
                select run_id, source_id
                from stored_table
                where table_name = 'configuration'
                union
                select run_id, 'run'
                from stored_table
            )
    ),
    either as (
        select run_id, source_id, count(*) as configuration_count
        from configuration
        group by run_id, source_id
        union all
        select run_id, 'run', 1
        from
            (
                select run_id
                from run_label
                union
                select run_id
                from run_metric
            )
        where run_id not in (select run_id from stored_table where table_name = 'configuration')
    )
select either.run_id, either.source_id, run_title.title, either.configuration_count, numbers.base_id
from either
join numbers using (run_id, source_id)
join run_title using (run_id)
