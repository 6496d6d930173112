-- purpose = "Time of steps that the host spends on something other than input, by the profiler's
-- own breakdown."
-- source = "TensorFlow's profiler: breakdown of each step; docs/metrics.md, sections Steps and
-- input and Findings"
-- needs = ["step_part", "step"]
-- parameters = "run_id"
-- columns = "part_name-step win_ns step_count elapsed_ns-reported source_id-rank device_id"
-- part_name-step = "VARCHAR: part of the step, named by the profiler"
-- win_ns = "time of the part"
-- finding.title = "Steps spend time outside of the device"
-- finding.evidence = "in {step_count:step}, by the profiler's breakdown; most is {part_name}"
-- finding.action = "host_prepare: launch fewer operators (tf.function, XLA); host_compile: keep
-- shapes fixed; unknown: look at the Python code between steps."
-- finding.command = "query step_time"
-- finding.pool = "host"
with
    steps as (
        select source_id, device_id, step_index, dur_ns
        from step
        where run_id = $run_id and step_kind = 'reported' and dur_ns is not null
    ),
    sums as (select source_id, device_id, sum(dur_ns) as elapsed_ns from steps group by all),
    parts as (
        select
            part.source_id,
            part.device_id,
            part.step_index,
            part.part_name,
            least(coalesce(sum(part.dur_ns), 0), any_value(steps.dur_ns)) as part_ns
        from step_part as part
        join
            steps
            on steps.source_id = part.source_id
            and steps.device_id is not distinct from part.device_id
            and steps.step_index = part.step_index
        where
            part.run_id = $run_id
            and part.part_kind
            in ('host_compute', 'host_prepare', 'compile', 'outfeed', 'idle', 'other')
        group by part.source_id, part.device_id, part.step_index, part.part_name
    )
select
    parts.part_name,
    cast(sum(parts.part_ns) as bigint) as win_ns,
    count(*) filter (where parts.part_ns > 0) as step_count,
    cast(any_value(sums.elapsed_ns) as bigint) as elapsed_ns,
    parts.source_id,
    parts.device_id
from parts
join
    sums on sums.source_id = parts.source_id and sums.device_id is not distinct from parts.device_id
group by parts.source_id, parts.device_id, parts.part_name
having win_ns > 0
order by win_ns desc, parts.source_id, parts.device_id, parts.part_name
