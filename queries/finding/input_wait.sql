-- purpose = "Time of steps in which the accelerator waited for its input, by the profiler's own
-- breakdown."
-- source = "TensorFlow's profiler: input pipeline analysis of each step"
-- needs = ["step_part", "step"]
-- parameters = "run_id"
-- columns = "win_ns step_count part_name elapsed_ns-reported source_id-rank device_id"
-- part_name = "VARCHAR: part with the most time"
-- finding.title = "Steps wait for input"
-- finding.evidence = "in {step_count:step}, by the profiler's breakdown; most is {part_name}"
-- finding.action = "Prefetch (tf.data prefetch, cache, parallel map), and move preprocessing off
-- the critical path."
-- finding.command = "query infeed"
-- finding.pool = "idle"
with
    steps as (
        select source_id, device_id, step_index, dur_ns, row_number() over () as step_number
        from step
        where run_id = $run_id and step_kind = 'reported' and dur_ns is not null
    ),
    waits as (
        select
            steps.source_id,
            steps.device_id,
            steps.step_number,
            steps.dur_ns as step_ns,
            least(coalesce(sum(part.dur_ns), 0), any_value(steps.dur_ns)) as wait_ns,
            arg_min(part.part_name, (- part.dur_ns, part.part_name)) as part_name
        from steps
        left join
            step_part as part
            on part.run_id = $run_id
            and part.source_id = steps.source_id
            and part.device_id is not distinct from steps.device_id
            and part.step_index = steps.step_index
            and part.part_kind in ('infeed', 'host_to_device')
        group by steps.source_id, steps.device_id, steps.step_number, steps.dur_ns
    )
select
    cast(sum(wait_ns) as bigint) as win_ns,
    count(*) filter (where wait_ns > 0) as step_count,
    arg_min(part_name, (- wait_ns, part_name)) as part_name,
    cast(sum(step_ns) as bigint) as elapsed_ns,
    source_id,
    device_id
from waits
group by source_id, device_id
having win_ns > 0
order by win_ns desc, source_id, device_id
