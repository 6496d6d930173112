-- purpose = "Points of a sweep's roofline: one per row of a table of results, with its work in
-- one second or in the time of a metric."
-- source = "ParaDnn (Wang Y. E. 2020), sect. 4.2 and Fig. 3: models on a roofline by a
-- hyperparameter, operators by class; docs/metrics.md, section Sweeps"
-- topic = "rooflines"
-- needs = ["configuration"]
-- depends = ["configuration_label", "configuration_work", "run_title"]
-- parameters = "run_id-all rate intensity weight series ceiling-configurations"
-- series = {type = "VARCHAR", doc = "labels that separate series, comma-separated", optional =
-- true}
-- columns = "run_id run_name name level_name-dram launch_count known_launch_count total_ns
-- known_ns known_flop known_bytes compute_ns bandwidth_ns launch_ns reason byte_definition
-- device_name source_id-table event_id-row zero_launch_count zero_ns op_class series_name
-- series_number"
-- name = "label name, else all labels in one text"
-- launch_count = "1: a configuration"
-- known_launch_count = "1 if its figures are known, else 0"
-- total_ns = "time by the weight; NULL without a weight"
-- known_ns = "time by the weight, else one second"
-- known_flop = "operations: rate x time"
-- known_bytes = "bytes: operations / intensity, or traffic x time"
-- launch_ns = "DOUBLE: NULL: no launch is known"
-- byte_definition = "VARCHAR: table: from the table of results"
-- zero_launch_count = "1 if measured without operations, else 0"
-- op_class = "NULL"
-- series_name = "VARCHAR: value of the series label; label=value for several; NULL without a label"
-- series_number = "DOUBLE: value as a number; NULL if it is not a number, or for several labels"
with
    labels as (from configuration_label where $run_id is null or run_id = $run_id),
    wanted as (
        select
            case
                when exists (from labels where label_name = trim(part)) or not exists (from labels)
                then trim(part)
                else
                    error(
                        'no configuration has the label '
                        || trim(part)
                        || '; there are: '
                        || coalesce(
                            (
                                select string_agg(distinct label_name, ', ' order by label_name)
                                from labels
                            ),
                            'none'
                        )
                    )
            end as label_name
        from (select unnest(string_split($series, ',')) as part)
        where $series is not null
    ),
    work as materialized(from configuration_work($run_id, $rate, $intensity, $weight, $ceiling)),
    own as (
        select
            configuration_id,
            label_name,
            label_number,
            coalesce(format('{:.15g}', label_number), label_value) as label_text
        from labels
        where label_name in (from wanted)
    ),
    series as (
        select
            configuration_id,
            any_value(label_number) as series_number,
            case
                when (select count(*) from wanted) = 1
                then any_value(label_text)
                else array_to_string(list_sort(list(label_name || '=' || label_text)), ', ')
            end as series_name
        from own
        group by configuration_id
    ),
    unnamed as (from work where name is null),
    names as (select configuration_id, label_value as name from labels where label_name = 'name'),
    texts as (
        select
            configuration_id,
            array_to_string(list_sort(list(label_name || '=' || label_value)), ', ') as name
        from labels
        where configuration_id in (select configuration_id from unnamed)
        group by configuration_id
    )
select
    work.run_id,
    run_title.title as run_name,
    coalesce(names.name, work.name, texts.name) as name,
    'dram' as level_name,
    cast(1 as bigint) as launch_count,
    cast(work.reason is null as bigint) as known_launch_count,
    cast(total_ns as bigint) as total_ns,
    cast(known_ns as bigint) as known_ns,
    known_flop,
    known_bytes,
    known_flop * flop_ns as compute_ns,
    known_bytes * byte_ns as bandwidth_ns,
    cast(null as double) as launch_ns,
    work.reason,
    case when work.reason is null then 'table' end as byte_definition,
    device_name,
    work.source_id,
    work.event_id,
    cast(coalesce(known_flop = 0, false) as bigint) as zero_launch_count,
    case when known_flop = 0 then cast(known_ns as bigint) else 0 end as zero_ns,
    cast(null as varchar) as op_class,
    case
        when $series is not null
        then coalesce(series_name, 'no ' || (select string_agg(label_name, ', ') from wanted))
    end as series_name,
    case when (select count(*) from wanted) = 1 then series_number end as series_number
from work
join (from run_title where $run_id is null or run_id = $run_id) as run_title using (run_id)
left join names using (configuration_id)
left join texts using (configuration_id)
left join series using (configuration_id)
order by work.configuration_id
