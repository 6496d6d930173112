-- purpose = "Configurations of some runs with certain label values."
-- source = "docs/metrics.md, section Sweeps"
-- needs = ["run"]
-- depends = ["configuration_label", "sweep_column", "sweep_configuration", "sweep_table"]
-- parameters = "wanted_runs wanted_ids wanted_values"
-- wanted_values = "VARCHAR: values of labels, comma-separated: layer=4,input=2000; NULL for all"
-- columns = "configuration_id run_id source_id-sweep event_id-row title status_kind status_text"
with
    told as (
        select
            trim(string_split(part, '=')[1]) as label_name,
            case
                when contains(part, '=')
                then trim(substr(part, strpos(part, '=') + 1))
                else error(trim(part) || ': give a value, such as ' || trim(part) || '=4')
            end as wanted_value
        from (select unnest(string_split(wanted_values, ',')) as part)
        where wanted_values is not null
    ),
    there as (
        select distinct label_name, label_value, label_number
        from configuration_label
        where label_name in (select label_name from told)
    ),
    known as (
        select
            told.label_name,
            told.wanted_value,
            coalesce(
                bool_or(
                    there.label_value = wanted_value
                    or there.label_number = try_cast(wanted_value as double)
                ),
                false
            ) as is_there,
            array_to_string(
                list(there.label_value order by there.label_number nulls last, there.label_value)[
                    :20
                ],
                ', '
            ) as value_names
        from told
        left join there using (label_name)
        group by told.label_name, told.wanted_value
    ),
    wanted as (
        select label_name, wanted_value
        from known
        where
            case
                when is_there or not exists (from sweep_table)
                then true
                else
                    error(
                        'no configuration has '
                        || label_name
                        || '='
                        || wanted_value
                        || coalesce(
                            '; ' || label_name || ' is one of: ' || nullif(value_names, ''),
                            '; labels: ' || (
                                select string_agg(distinct column_name, ', ' order by column_name)
                                from sweep_column
                                where role_kind = 'label' and wanted_values is not null
                            )
                        )
                    )
            end
    ),
    kept as (
        select configuration_id
        from configuration_label as own
        join
            wanted
            on wanted.label_name = own.label_name
            and (
                own.label_value = wanted_value
                or own.label_number = try_cast(wanted_value as double)
            )
        where wanted_values is not null
        group by configuration_id
        having count(*) = (select count(distinct label_name) from wanted)
    )
select *
from sweep_configuration
where
    title glob wanted_runs
    and (wanted_ids is null or list_contains(string_split(wanted_ids, ','), run_id))
    and (wanted_values is null or configuration_id in (from kept))
