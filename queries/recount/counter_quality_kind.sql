-- purpose = "Events that were counted all the time are ok; those of vectors have a precision."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "counter_quality"
-- keys = ["event_name"]
-- needs = ["counter"]
-- is_partial = true
-- skips_unknown = true
select
    min(event_name) as event_name,
    (select any_value(run_name) from run where run_id = $run_id) as name,
    if(
        starts_with(event_key, 'fp_arith_inst_retired.'),
        if(contains(event_key, 'double'), 'fp64', 'fp32'),
        null
    ) as figure_name,
    if(
        count(value) = count(*), if(min(coalesce(running_ratio, 1)) < 1, 'scaled', 'ok'), null
    ) as status_kind
from counter
where run_id = $run_id and record_kind = 'event' and event_key is not null
group by event_key
having
    min(event_name) not in (
        select event_name
        from counter
        where run_id = $run_id and record_kind = 'event'
        group by event_name
        having count(distinct event_key) > 1
    )
