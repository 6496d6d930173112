-- purpose = "Each row of a table of results with each metric, over each label of numbers, beside
-- the other labels; of tables whose rows have all labels."
-- upon = "table_value"
with
    label as (
        select
            column_name,
            count(value) = count(*) as is_number,
            count(distinct value_text) > 1 as is_varied,
            -- and one spelling of each number
            count(*) = (select count(*) from configuration where run_id = $run_id)
            and count(distinct value_text)
            = count(distinct coalesce(value::varchar, value_text)) as is_whole
        from table_value
        where role_kind = 'label'
        group by column_name
    ),
    own as (
        select event_id, column_name, value_text, value, is_number, is_varied
        from table_value
        join label using (column_name)
        where role_kind = 'label' and (select bool_and(is_whole) from label)
    ),
    placed as (
        select
            over.event_id,
            over.column_name as over_name,
            over.value_text as over_value,
            over.value as over_number,
            list_sort(list(other.column_name || '=' || other.value_text)) as others,
            list_sort(
                list(other.column_name || '=' || other.value_text) filter (where other.is_varied)
            ) as varied
        from own as over
        left join
            own as other on other.event_id = over.event_id and other.column_name <> over.column_name
        where over.is_number and over.is_varied
        group by all
    )
select
    placed.event_id,
    over_name,
    over_value,
    over_number,
    array_to_string([text for text in others if text is not null], ', ') as configuration,
    array_to_string(varied, ', ') as series,
    metric.column_name as metric_name,
    given.value,
    metric.unit
from placed
cross join
    (
        select column_name, max(unit) as unit
        from table_value
        where role_kind = 'metric'
        group by column_name
        having count(distinct coalesce(unit, '')) = 1
    ) as metric
left join
    table_value as given
    on given.event_id = placed.event_id
    and given.column_name = metric.column_name
    and given.role_kind = 'metric'
    and given.status_kind <> 'failed'
