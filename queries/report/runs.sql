-- purpose = "The runs in the store, newest first."
-- source = "tables run, run_label, source_file"
-- topic = "store"
-- needs = ["source_file"]
-- depends = ["kernel_launch"]
-- parameters = "with_labels"
-- with_labels = {type = "VARCHAR", doc = "LABEL=VALUE,…: only runs with all of these label
-- values; default: every run", optional = true}
-- columns = "run_name source_count labels event_count kernel_count-launches kernel_ns is_complete
-- ingested_at run_id"
-- run_name = "name from --run, else the file name"
-- is_complete = "BOOLEAN: every file is complete and undamaged"
-- ingested_at = "TIMESTAMP: time of the last ingest, UTC"
-- run_id = "id; use it with --run if a name is not unique"
with
    wanted as (select distinct unnest(string_split($with_labels, ',')) as pair),
    labeled as (
        select run_id
        from run_label
        join wanted on label_name || '=' || value = pair
        group by run_id
        having count(distinct pair) = (select count(*) from wanted)
    ),
    sources as (
        select
            run_id,
            count(*) as source_count,
            cast(sum(event_count) as bigint) as event_count,
            bool_and(is_complete) as is_complete,
            max(ingested_at_ns) as ingested_at_ns
        from source_file
        where recording_kind is distinct from 'join'
        group by run_id
    ),
    names as (select run_id, any_value(run_name) as run_name from run group by run_id),
    labels as (
        select
            run_id,
            string_agg(
                distinct label_name || '=' || value, ' ' order by label_name || '=' || value
            ) as labels
        from run_label
        group by run_id
    ),
    kernels as (
        select
            run_id, cast(sum(launch_count) as bigint) as n, cast(sum(dur_ns) as bigint) as total_ns
        from kernel_launch
        group by run_id
    )
select
    names.run_name,
    sources.source_count,
    labels.labels,
    sources.event_count,
    coalesce(kernels.n, 0) as kernel_count,
    kernels.total_ns as kernel_ns,
    sources.is_complete,
    make_timestamp(divide(sources.ingested_at_ns, 1000)) as ingested_at,
    run_id
from sources
join names using (run_id)
left join labels using (run_id)
left join kernels using (run_id)
where $with_labels is null or run_id in (select run_id from labeled)
order by sources.ingested_at_ns desc, run_id
