-- purpose = "Training metrics of a run are those of its work and of marks that hold all of it."
-- source = "docs/reliability.md, section Values that must agree"
-- report = "training_metrics"
-- keys = ["run_id"]
-- needs = ["run", "attribution"]
-- upon = "uncut_work"
-- skips_unknown = true
with
    mark as (
        select
            source_id,
            count(*) as steps,
            min(start_ns) as from_ns,
            max(start_ns + dur_ns) as till_ns,
            max(step_index) - min(step_index) + 1 = count(*) and min(step_kind) = 'host' as is_whole
        from step
        where run_id = $run_id and step_kind <> 'reported'
        group by source_id
    ),
    reached as (
        select
            *,
            max(end_ns) over (
                partition by source_id, device_id
                order by start_ns, end_ns
                rows between unbounded preceding and 1 preceding
            ) as reach_ns
        from uncut_work
        where is_kernel and dur_ns > 0
    ),
    busy as (
        select
            source_id,
            sum(greatest(0, end_ns - greatest(start_ns, coalesce(reach_ns, start_ns)))) as busy_ns
        from reached
        group by source_id
    ),
    whole as (
        select
            source_id,
            count(distinct coalesce(device_id, -1)) as devices,
            min(start_ns) as from_ns,
            max(end_ns) as till_ns
        from uncut_work
        group by source_id
    ),
    source as (
        select
            rank_index,
            steps * 1e9 / (mark.till_ns - mark.from_ns) as rate,
            devices,
            coalesce(busy_ns, 0) as busy_ns,
            devices * (mark.till_ns - mark.from_ns) as ns,
            steps is null
            or is_whole
            and mark.from_ns <= whole.from_ns
            and whole.till_ns <= mark.till_ns as is_plain
        from whole
        left join busy using (source_id)
        left join mark using (source_id)
        left join (from source_file where run_id = $run_id) as source_file using (source_id)
    ),
    sample as (
        select max(value) as samples
        from run_metric
        where run_id = $run_id and metric_name = 'samples_per_step'
    )
select
    $run_id as run_id,
    avg(rate) as steps_per_s,
    if(
        count(*) = 1 or count(distinct rank_index) = count(*), sum(rate * samples), null
    ) as samples_per_s,
    if(count(ns) = count(*), sum(busy_ns) / sum(ns), null) as busy_ratio,
    sum(devices) as device_count,
    if(
        exists (from kernel_counter where run_id = $run_id)
        or exists (from kernel_match where run_id = $run_id),
        null,
        'operations: not_collected'
    ) as reason
from source, sample
having
    bool_and(is_plain)
    and exists (from run where run_id = $run_id and run_name is not null)
    and count(*) = (
        select count(distinct source_id)
        from
            (
                from (select source_id from attribution where run_id = $run_id)
                union all
                select source_id
                from step
                where run_id = $run_id
            )
    )
