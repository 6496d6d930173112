-- purpose = "Contents of tables of results: configurations, failures with reasons, and each label
-- and metric with its values."
-- source = "tables configuration and configuration_value; ParaDnn (Wang Y. E. 2020), sect. 3"
-- topic = "sweeps"
-- needs = ["configuration"]
-- depends = ["run_title"]
-- parameters = "run_id"
-- columns = "column_name role_kind status_kind configuration_count missing_count distinct_count
-- min_value median_value max_value unit status_text example_text run_name"
-- column_name = "VARCHAR: label or metric; NULL in rows for configurations"
-- role_kind = "VARCHAR: label, metric or configuration"
-- status_kind = "for configurations: ok or failed"
-- configuration_count = "configurations, or those with a value"
-- missing_count = "BIGINT: configurations without a usable value; for a metric, without a number"
-- distinct_count = "BIGINT: different values"
-- status_text = "for configurations: status text of the file, such as OOM"
-- example_text = "VARCHAR: for a label with words: the first in order"
with
    all_of_it as (
        select status_kind, status_text, count(*) as configuration_count
        from configuration
        where run_id = $run_id
        group by status_kind, status_text
    ),
    total as (select sum(configuration_count) as whole_count from all_of_it),
    columns_of_it as (
        select
            column_name,
            role_kind,
            min(unit) as unit,
            count(*) as present_count,
            count(*) filter (where role_kind = 'label' or value is not null) as known_count,
            count(distinct value_text) as distinct_count,
            min(value) as min_value,
            median(value) as median_value,
            max(value) as max_value,
            min(value_text) filter (where role_kind = 'label' and value is null) as example_text
        from configuration_value
        where
            run_id = $run_id
            -- what a failed one has of a metric, such as 0, was not measured
            and (
                role_kind = 'label'
                or (source_id, event_id) not in (
                    select (source_id, event_id)
                    from configuration
                    where run_id = $run_id and status_kind = 'failed'
                )
            )
        group by column_name, role_kind
    ),
    told as (
        select *, 1 as place, 'configuration' as role_kind
        from all_of_it
        union all by name
        select
            * exclude (present_count, known_count, whole_count),
            case role_kind when 'label' then 2 else 3 end as place,
            present_count as configuration_count,
            cast(whole_count - known_count as bigint) as missing_count
        from columns_of_it, total
    )
select
    column_name,
    role_kind,
    status_kind,
    configuration_count,
    missing_count,
    distinct_count,
    min_value,
    median_value,
    max_value,
    unit,
    status_text,
    example_text,
    run_title.title as run_name
from told
left join run_title on run_title.run_id = $run_id
order by place, status_kind desc, configuration_count desc, column_name, role_kind, status_text
