-- purpose = "A run that is compared with itself has the steps and the work of its rows."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "comparison_runs"
-- keys = ["side_kind"]
-- needs = ["run", "source_file", "attribution"]
with
    work as (
        select
            count(distinct source_id) as source_count,
            sum(dur_ns) as work_ns,
            coalesce(sum(dur_ns) filter (where step_index is null), 0) as unmarked_ns
        from attribution
        where run_id = $run_id
    ),
    marked as (
        select
            min(step_kind) as step_kind,
            count(distinct step_index) as step_count,
            min(step_index) as first_step_index,
            max(step_index) as last_step_index,
            max(steps) as all_step_count
        from
            (
                select
                    step_kind,
                    step_index,
                    count(distinct step_index) over (partition by source_id) as steps
                from step
                where run_id = $run_id
            )
    )
select
    unnest(['A', 'B']) as side_kind,
    source_count,
    'timeline' as basis_kind,
    step_kind,
    step_count,
    first_step_index,
    last_step_index,
    work_ns,
    if(step_count > 0, unmarked_ns, 0) as outside_ns,
    all_step_count,
    $run_id as run_id,
    (select any_value(run_name) from run where run_id = $run_id) as run_name
from work, marked
where
    -- steps of one kind, all of sources with work, which is all of these steps
    (
        select
            count(distinct step_kind) <= 1
            and coalesce(bool_and(step_kind in ('host', 'device', 'detected')), true)
            and coalesce(
                bool_and(
                    source_id in (select source_id from attribution where run_id = $run_id)
                    and step_index is not null
                ),
                true
            )
        from step
        where run_id = $run_id
    )
    and not exists (
        select source_id, step_index
        from attribution
        where run_id = $run_id and step_index is not null
        except
        select source_id, step_index
        from step
        where run_id = $run_id
    )
