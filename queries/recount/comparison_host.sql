-- purpose = "Operators of a run without device work that is compared with itself take their own
-- time per step in both."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "comparison"
-- keys = ["name"]
-- options.by = ["op"]
-- needs = ["op_call"]
-- is_partial = true
with
    calls as (select source_id, step_index, name, self_ns from op_call where run_id = $run_id),
    steps as (select distinct source_id, step_index from step where run_id = $run_id),
    times as (
        select names.name, coalesce(sum(self_ns), 0) as step_ns, count(self_ns) as call_count
        from steps
        cross join (select distinct name from calls where step_index is not null) as names
        left join calls using (source_id, step_index, name)
        group by steps.source_id, steps.step_index, names.name
    )
select
    name,
    avg(step_ns) as a_ns,
    avg(step_ns) as b_ns,
    0 as delta_ns,
    avg(call_count) as a_launch_count,
    avg(call_count) as b_launch_count,
    if(count(*) > 1, stddev_samp(step_ns), null) as a_stddev_ns,
    if(count(*) > 1, stddev_samp(step_ns), null) as b_stddev_ns,
    count(*) as a_step_count,
    count(*) as b_step_count
from times
where
    (select count(*) from source_file where run_id = $run_id) = 1
    and not exists (from attribution where run_id = $run_id)
    and not exists (from op_stat where run_id = $run_id)
group by name
