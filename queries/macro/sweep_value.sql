-- purpose = "Values of a label of a sweep that can be a baseline; an error if there is only one."
-- source = "docs/metrics.md, section Sweeps: defaults"
-- needs = ["run"]
-- depends = ["configuration_label", "run_title"]
-- parameters = "wanted_label wanted_runs wanted_ids"
-- wanted_label = "label; NULL: no row"
-- columns = "choice_name is_chosen"
-- choice_name = "VARCHAR: value; numbers have one spelling"
-- is_chosen = "BOOLEAN: false: a baseline must not be a guess"
with
    there as (
        select distinct
            label_number, coalesce(format('{:.15g}', label_number), label_value) as choice_name
        from configuration_label
        join run_title using (run_id)
        where
            label_name = wanted_label
            and title glob wanted_runs
            and (wanted_ids is null or list_contains(string_split(wanted_ids, ','), run_id))
    )
select
    case
        when count(*) over () > 1
        then choice_name
        else
            error(
                wanted_label
                || ' is '
                || choice_name
                || ' everywhere: there is nothing to compare with'
            )
    end as choice_name,
    false as is_chosen
from there
order by label_number nulls last, choice_name
