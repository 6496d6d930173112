-- purpose = "No rows if some configuration has a label or metric; else an error that lists the
-- known ones."
-- source = "docs/metrics.md, section Sweeps"
-- depends = ["sweep_column"]
-- parameters = "wanted_role wanted_name"
-- wanted_role = "VARCHAR: label or metric, or % for either"
-- wanted_name = "VARCHAR: name; NULL if none is requested"
-- columns = "unknown_name"
with
    there as (
        select
            coalesce(
                list(column_name order by column_name) filter (where role_kind like wanted_role), []
            ) as names,
            any_value(role_kind) filter (where column_name = wanted_name) as other_role
        from sweep_column
        having count(*) > 0
    )
select unknown_name
from
    (
        select
            case
                when wanted_name is null or list_contains(names, wanted_name)
                then null
                when other_role is not null
                then
                    error(
                        wanted_name
                        || ' is a '
                        || other_role
                        || ', not a '
                        || wanted_role
                        || '; what a column is can be said at ingest: --columns '
                        || wanted_role
                        || 's='
                        || wanted_name
                    )
                else
                    error(
                        'no configuration has the '
                        || case wanted_role when '%' then 'label or metric' else wanted_role end
                        || ' '
                        || wanted_name
                        || '; there are: '
                        || case
                            when len(names) = 0 then 'none' else array_to_string(names, ', ')
                        end
                    )
            end as unknown_name
        from there
    )
where unknown_name is not null
