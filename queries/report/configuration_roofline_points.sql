-- purpose = "The points of a roofline of a sweep: one a row of a table of results, with what it
-- does in one second, or in the time that a metric says."
-- source = "ParaDnn (Wang Y. E. 2020), sect. 4.2 and Fig. 3: models on a roofline by a
-- hyperparameter, operators by class; docs/metrics.md, section Sweeps"
-- needs = ["configuration"]
-- depends = ["configuration_label", "configuration_work", "run_title"]
-- [parameters]
-- run_id = {type = "VARCHAR", doc = "run; NULL for all of them", optional = true}
-- rate = {type = "VARCHAR", doc = "metric with the rate; if not given, that in FLOP/s, else that
-- in % with flop in its name", optional = true}
-- intensity = {type = "VARCHAR", doc = "metric with the intensity or the traffic; if not given,
-- that in FLOP/byte, else called intensity, else in bytes/s, else in % with bandwidth in its
-- name", optional = true}
-- weight = {type = "VARCHAR", doc = "metric with the time of each (ns, us, ms, s, or % of a
-- second); if not given, one second each", optional = true}
-- series = {type = "VARCHAR", doc = "labels that tell series apart, with commas between",
-- optional = true}
-- ceiling = {type = "VARCHAR", doc = "compute peak: tensor_bf16, fp32 …; if not given, that of
-- 16-bit matrix operations, else fp32", optional = true}
-- [columns]
-- run_id = {type = "VARCHAR", doc = "run"}
-- run_name = {type = "VARCHAR", doc = "its name"}
-- name = {type = "VARCHAR", doc = "the label name, else the labels in one text"}
-- level_name = {type = "VARCHAR", doc = "dram"}
-- launch_count = {type = "BIGINT", doc = "1: a configuration"}
-- known_launch_count = {type = "BIGINT", doc = "1 where its figures are known, else 0"}
-- total_ns = {type = "BIGINT", doc = "the time that the weight says; NULL without one: a
-- configuration has no time of its own"}
-- known_ns = {type = "BIGINT", doc = "that time, else one second"}
-- known_flop = {type = "DOUBLE", doc = "operations in it: rate x time"}
-- known_bytes = {type = "DOUBLE", doc = "bytes in it: operations / intensity, or traffic x time"}
-- compute_ns = {type = "DOUBLE", doc = "operations at peak; NULL where it is not known"}
-- bandwidth_ns = {type = "DOUBLE", doc = "bytes at the peak of memory; NULL where it is not known"}
-- launch_ns = {type = "DOUBLE", doc = "NULL: no launch is known"}
-- reason = {type = "VARCHAR", doc = "why the figures are not known"}
-- byte_definition = {type = "VARCHAR", doc = "table: as the table of results says"}
-- device_name = {type = "VARCHAR", doc = "device; NULL if unknown"}
-- source_id = {type = "VARCHAR", doc = "source of the table"}
-- event_id = {type = "BIGINT", doc = "row of the table"}
-- zero_launch_count = {type = "BIGINT", doc = "1 where it is known that there was no operation,
-- else 0"}
-- zero_ns = {type = "BIGINT", doc = "its time then"}
-- op_class = {type = "VARCHAR", doc = "NULL"}
-- series_name = {type = "VARCHAR", doc = "value of the label that tells series apart, of several
-- label=value; NULL without any"}
-- series_number = {type = "DOUBLE", doc = "the value as a number; NULL if it is none, or of
-- several labels"}
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
