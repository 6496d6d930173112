-- purpose = "Step times: minimum, mean, median and maximum, with the parts reported by the
-- profiler."
-- source = "steps and their parts as reported by the profiler; docs/metrics.md, section Steps and
-- input"
-- topic = "time"
-- needs = ["step"]
-- parameters = "run_id"
-- columns = "source_id-host device_id step_kind part_name step_count mean_ns median_ns min_ns
-- max_ns stddev_ns spread_ratio total_ns share_ratio part_kind"
-- answer = "part_name mean_ns share_ratio"
-- device_id = "device; NULL for steps of a host"
-- step_kind = "VARCHAR: host (span of the loop), device, or reported (from the profiler's own
-- page; of JAX on a GPU from the first kernel of the step to the end of the last)"
-- part_name = "part of the steps, as named by the profiler; NULL: whole steps"
-- step_count = "steps; for a part, steps with that part"
-- mean_ns = "total_ns / step_count; for a part, over the steps with that part"
-- median_ns = "DOUBLE: median"
-- stddev_ns = "DOUBLE: sample standard deviation; NULL for one step"
-- spread_ratio = "DOUBLE: (max_ns - min_ns) / median_ns"
-- share_ratio = "for a part: total_ns / time of the steps with it"
-- part_kind = "VARCHAR: infeed, compute, collective …"
with
    steps as (
        select source_id, device_id, step_kind, step_index, event_id, dur_ns
        from step
        where run_id = $run_id and dur_ns is not null
    ),
    -- a step can be there as host, device and reported; its parts are of the record they were
    -- read from
    parts as (
        select
            steps.source_id,
            steps.device_id,
            steps.step_kind,
            step_part.part_name,
            step_part.part_kind,
            steps.dur_ns as step_ns,
            step_part.dur_ns
        from step_part
        join
            steps
            on steps.source_id = step_part.source_id
            and steps.step_index = step_part.step_index
            and steps.device_id is not distinct from step_part.device_id
        where step_part.run_id = $run_id
        qualify
            list_position(
                ['reported', 'device', 'host'],
                steps.step_kind
            ) = min(list_position(['reported', 'device', 'host'], steps.step_kind)) over (
                partition by step_part.source_id, step_part.device_id, step_part.step_index
            )
    ),
    every as (
        select
            source_id,
            device_id,
            step_kind,
            null as part_name,
            null as part_kind,
            null as step_ns,
            dur_ns
        from steps
        union all
        select source_id, device_id, step_kind, part_name, part_kind, step_ns, dur_ns
        from parts
    )
select
    source_id,
    device_id,
    step_kind,
    part_name,
    count(dur_ns) as step_count,
    avg(dur_ns) as mean_ns,
    cast(median(dur_ns) as double) as median_ns,
    min(dur_ns) as min_ns,
    max(dur_ns) as max_ns,
    stddev_samp(dur_ns) as stddev_ns,
    ratio(max(dur_ns) - min(dur_ns), median(dur_ns)) as spread_ratio,
    cast(sum(dur_ns) as bigint) as total_ns,
    ratio(sum(dur_ns), sum(step_ns)) as share_ratio,
    part_kind
from every
group by source_id, device_id, step_kind, part_name, part_kind
order by
    source_id,
    device_id nulls first,
    step_kind,
    part_name is not null,
    total_ns desc nulls last,
    part_name,
    part_kind
