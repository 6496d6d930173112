-- purpose = "Time of steps in which the accelerator waited for its input, by the profiler's own
-- breakdown."
-- source = "TensorFlow's profiler: input pipeline analysis of each step"
-- needs = ["step_part", "step"]
-- parameters = "run_id"
-- columns = "win_ns step_count part_name elapsed_ns source_id-rank device_id"
-- part_name = "VARCHAR: part with the most time"
-- finding.title = "Steps wait for input"
-- finding.evidence = "in {step_count:step}, by the profiler's breakdown; most is {part_name}"
-- finding.action = "Prefetch (tf.data prefetch, cache, parallel map), and move preprocessing off
-- the critical path."
-- finding.command = "query infeed"
-- finding.pool = "idle"
with
    steps as (
        select source_id, device_id, sum(dur_ns) as elapsed_ns, count(*) as step_count
        from step
        where run_id = $run_id and step_kind = 'reported' and dur_ns is not null
        group by source_id, device_id
    ),
    parts as (
        select source_id, device_id, part_name, sum(dur_ns) as part_ns
        from step_part
        where run_id = $run_id and part_kind in ('infeed', 'host_to_device')
        group by source_id, device_id, part_name
    ),
    summed as (
        select
            source_id,
            device_id,
            sum(part_ns) as part_ns,
            arg_max(part_name, (part_ns, part_name)) as part_name
        from parts
        group by source_id, device_id
    )
select
    cast(summed.part_ns as bigint) as win_ns,
    steps.step_count,
    summed.part_name,
    cast(steps.elapsed_ns as bigint) as elapsed_ns,
    summed.source_id,
    summed.device_id
from summed
join
    steps
    on steps.source_id = summed.source_id
    and steps.device_id is not distinct from summed.device_id
where summed.part_ns > 0
order by win_ns desc, summed.source_id, summed.device_id
