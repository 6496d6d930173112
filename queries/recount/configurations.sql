-- purpose = "Columns of a sweep without failures have the values of its rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "configurations"
-- keys = ["column_name", "role_kind"]
-- needs = ["configuration", "configuration_value"]
-- is_partial = true
select
    column_name,
    role_kind,
    count(distinct value_text) as distinct_count,
    min(value) as min_value,
    median(value) as median_value,
    max(value) as max_value,
    (select count(*) from configuration where run_id = $run_id)
    - count(if(role_kind = 'label', column_name, value::varchar)) as missing_count
from configuration_value
where
    run_id = $run_id
    and not exists (from configuration where run_id = $run_id and status_kind = 'failed')
group by column_name, role_kind
