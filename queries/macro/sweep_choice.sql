-- purpose = "Possible values of a parameter of a sweep report, and whether there is only one."
-- source = "docs/metrics.md, section Sweeps: defaults"
-- needs = ["run"]
-- depends = ["label_value", "sweep_table"]
-- parameters = "wanted_kind wanted_runs wanted_ids"
-- wanted_kind = "VARCHAR: metric, speed (a metric; example_per_sec if there is one), label, group
-- (a label), platform or chips (labels of whole runs first; chips: of numbers)"
-- columns = "choice_name is_chosen"
-- choice_name = "VARCHAR: metric, or label with several values"
-- is_chosen = "BOOLEAN: it is the only one; false for label, of which a report takes two"
with
    tables as (
        select run_id, source_id
        from sweep_table
        where
            title glob wanted_runs
            and (wanted_ids is null or list_contains(string_split(wanted_ids, ','), run_id))
    ),
    told as (
        select
            role_kind,
            column_name as choice_name,
            false as is_of_runs,
            bool_and(value is not null) as is_number,
            min(value) as least_number,
            max(value) as most_number,
            min(value_text) as first_text,
            max(value_text) as last_text
        from configuration_value
        join tables using (run_id, source_id)
        group by role_kind, column_name
        union all
        select
            'label',
            label_name,
            true,
            bool_and(label_number is not null),
            min(label_number),
            max(label_number),
            min(label_value),
            max(label_value)
        from label_value
        where run_id in (select run_id from tables)
        group by label_name
        union all
        select distinct 'metric', metric_name, true, true, null, null, null, null
        from run_metric
        where (run_id, 'run') in (select (run_id, source_id) from tables)
    ),
    named as (
        select
            role_kind,
            choice_name,
            bool_or(is_of_runs) as is_of_runs,
            bool_and(is_number) as is_number,
            case
                when bool_and(is_number)
                then min(least_number) < max(most_number)
                else min(first_text) < max(last_text)
            end as is_varied
        from told
        group by role_kind, choice_name
    ),
    ranked as (
        select
            choice_name,
            case
                when wanted_kind = 'speed' and choice_name = 'example_per_sec'
                then 1
                when wanted_kind in ('platform', 'chips') and is_of_runs
                then 1
                else 2
            end as choice_rank
        from named
        where
            case
                when wanted_kind in ('metric', 'speed')
                then role_kind = 'metric'
                when wanted_kind = 'chips'
                then role_kind = 'label' and is_varied and is_number
                else role_kind = 'label' and is_varied
            end
    )
select
    choice_name,
    wanted_kind <> 'label'
    and choice_rank = min(choice_rank) over ()
    and count(*) over (partition by choice_rank) = 1 as is_chosen
from ranked
union all
select
    error(
        'no configuration has ' || case
            when wanted_kind in ('metric', 'speed')
            then 'a metric'
            when wanted_kind = 'chips'
            then 'a label with several numbers'
            else 'a label with several values'
        end
        || '; what a column is can be said at ingest: --columns labels=NAME,metrics=NAME'
    ) as choice_name,
    false
from (select count(*) as ranked_count from ranked)
where ranked_count = 0 and exists (from tables)
order by choice_name
