-- purpose = "The values of a label of a sweep that a report may be asked to compare with; an
-- error where there is one only."
-- source = "docs/metrics.md, section Sweeps: defaults"
-- needs = ["run"]
-- depends = ["configuration_label", "run_title"]
-- [parameters]
-- wanted_label = {type = "VARCHAR", doc = "which label; NULL: no row"}
-- wanted_runs = {type = "VARCHAR", doc = "names of runs; * matches any text"}
-- wanted_ids = {type = "VARCHAR", doc = "ids of runs, comma-separated; NULL for all"}
-- [columns]
-- choice_name = {type = "VARCHAR", doc = "the value; a number always written in one way"}
-- is_chosen = {type = "BOOLEAN", doc = "false: which of two is the baseline would be a guess"}
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
